"""Write requests like those of the balance paper's Azure-2024 workload, as far as it is described.

The paper keeps conversations of Azure 2024 with more than 1,000 output tokens: 10,000 requests of
4,652 prompt and 1,052 output tokens on average. Here prompts are those of the embedded Azure 2023
profile, stretched to that mean, and outputs are 1,000 plus a geometric number with mean 52.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

import olprouting as olp


def long_outputs(requests: int, seed: int) -> pd.DataFrame:
    """Return a table that `olprouting.resolve` can read from CSV: arrivals, prompts, outputs."""
    prompts = olp.resolve("azure-2023-conv-like", requests=requests, seed=seed).prompt_tokens
    stretched = np.maximum(1, np.rint(prompts * (4652 / prompts.mean())))
    outputs = 1000 + np.random.default_rng([seed, 1]).geometric(1 / 52, requests)
    return pd.DataFrame(
        {
            "arrived_at": 0.1 * np.arange(requests),
            "num_prefill_tokens": stretched.astype(np.int64),
            "num_decode_tokens": outputs,
        }
    )


def main(
    out: Annotated[Path, typer.Argument(help="The CSV file to write.")],
    requests: Annotated[int, typer.Option(min=1, help="How many requests.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Draws prompts and outputs.")] = 0,
) -> None:
    """Write the requests as a CSV file."""
    out = Path(out)
    long_outputs(requests, seed).to_csv(out, index=False, lineterminator="\n")
    typer.echo(f"wrote {out}")


if __name__ == "__main__":
    typer.run(main)
