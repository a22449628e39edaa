"""What limits the mixed reward: one policy, three orders in which it starts what fits.

The bounds are those of `hindsight_ratios.py` (results/hindsight_ratios_1000.csv), on the same
requests. All policies look ahead whether a request fits in every period to come, and pass over one
that does not; they differ in whom they look at first: the largest reward (``prices-0``), the
smallest room, or the most reward for the room (``reward-density``). Starts that were preempted do
not count.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer
from hindsight_ratios import Setting, workload

import olprouting as olp
from olprouting.files import write_text
from olprouting.instances import WEIGHT_SETS
from olprouting.policies.period_policy import PastLastPeriodWarning, PeriodPolicy, admit_by_score
from olprouting.policies.period_situation import workers_of
from olprouting.policies.reward_density import room_of
from olprouting.price_report.run_outcome import rewards_of

if TYPE_CHECKING:
    import numpy as np

    from olprouting.policies import Policy
    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View

RESULTS = Path(__file__).resolve().parent / "results"
CASES = (
    ("jsq", "tokens"),
    ("prices-0", "tokens"),
    ("prices-0", "reserve"),
    ("smallest-room", "tokens"),
    ("reward-density", "tokens"),
    ("reward-density", "reserve"),
)
"""Policies, and how KV tokens are set aside."""


class SmallestRoomPolicy(PeriodPolicy):
    """Start the requests that take the least room first, whatever they are worth."""

    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that fit, by increasing room."""
        score = 1 / room_of(situation, workers_of(view))
        return admit_by_score(situation.problem, score, random_ties=self.random_ties, rng=rng)


def run_case(
    trace: olp.Trace, weights: str, case: tuple[str, str], setting: Setting, seed: int
) -> dict[str, Any]:
    """Run one policy; return the reward of starts that were never preempted, and their number."""
    name, kv = case
    periods = setting.periods(len(trace))
    period = olp.PeriodOptions(
        weights=WEIGHT_SETS[weights], t1=setting.t1, t2=setting.t2, periods=periods
    )
    policy: Policy = (
        SmallestRoomPolicy(name, period, random_ties=True)
        if name == "smallest-room"
        else olp.make_policy(name, setting.workers, olp.PolicyOptions(period=period))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PastLastPeriodWarning)
        run = olp.simulate(
            trace,
            setting.cluster,
            policy,
            seed=seed,
            periods=periods,
            kv=olp.KvOptions(mode=kv, oversize="reject"),
        )
    counted = (run.admission_iteration > 0) & (run.preemptions == 0)
    rewards = rewards_of(run, period, "decode")[counted]
    return {"case": f"{name}, {kv}", "reward": rewards.sum(), "started": int(counted.sum())}


def run_all(
    trace: str, requests: int, seeds: int, bounds: pd.DataFrame, only: str = ""
) -> pd.DataFrame:
    """Return a row per weights, seed and case, with the reward's share of the bound in percent."""
    setting, rows = Setting(), []
    for seed in range(seeds):
        requests_of = workload(trace, requests, setting.rate, seed)
        for weights in setting.weights:
            known = bounds[(bounds["weights"] == weights) & (bounds["seed"] == seed)]
            bound = float(known["bound"].iloc[0])
            for case in (case for case in CASES if case[0].startswith(only)):
                row = run_case(requests_of, weights, case, setting, seed)
                share = 100 * row["reward"] / bound
                rows.append({"weights": weights, "seed": seed} | row | {"of_bound": share})
    return pd.DataFrame(rows)


def main(
    trace: Annotated[str, typer.Option(help="The trace of the bounds.")] = "azure_2023_conv.csv",
    requests: Annotated[int, typer.Option(help="Its first requests: 1000 or 8000.")] = 1000,
    seeds: Annotated[int, typer.Option(min=1, help="How many of the bounds' seeds.")] = 3,
    only: Annotated[str, typer.Option(help="Only policies whose names begin so.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for the table.")] = Path("results"),
) -> None:
    """Run every case on the requests of the bounds that are saved."""
    bounds = pd.read_csv(RESULTS / f"hindsight_ratios_{requests}.csv")
    table = run_all(trace, requests, seeds, bounds, only)
    text = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(out / f"mixed_reward_{requests}.csv", text)


if __name__ == "__main__":
    typer.run(main)
