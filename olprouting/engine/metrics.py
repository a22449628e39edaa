"""The metrics of a run (balance paper, sections 2 and 6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Quantiles:
    """Mean and quantiles of a latency in seconds; None where no request has one."""

    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None

    @classmethod
    def of(cls, values_s: npt.NDArray[np.float64]) -> Quantiles:
        """Return mean and quantiles of `values_s` (linear interpolation between ranks)."""
        if not len(values_s):
            return cls(None, None, None, None)
        p50, p95, p99 = (float(q) for q in np.quantile(values_s, (0.5, 0.95, 0.99)))
        return cls(float(values_s.mean()), p50, p95, p99)


@dataclass(frozen=True)
class Metrics:
    """What a run achieved.

    Attributes
    ----------
    arrived, finished, rejected, unfinished
        Requests; ``arrived = finished + rejected + unfinished``.
    censored
        Whether requests are unfinished, so that latencies miss the slowest ones.
    iterations, idle_iterations
        Iterations with at least one active request, and without (iteration clock only: the
        clock of seconds jumps over idle time).
    mean_imbalance_tokens
        Unweighted mean of I(k) over the iterations with at least one active request.
    mean_imbalance_with_idle_tokens
        The same over all iterations (the paper's definition).
    mean_idle_share
        Mean over busy iterations of barrier waiting / (G x step time).
    makespan_s
        From the first release to the last completed step.
    decode_tokens, throughput_tokens_per_s, requests_per_s
        Generated tokens, and per second of makespan.
    tpot, ttft, end_to_end
        Time per output token after the first, time to first token and end-to-end latency, both
        from release, of finished requests.
    single_token_requests
        Finished requests with one decode token, which have no time per output token.
    energy_j
        Energy of all workers.
    """

    arrived: int
    finished: int
    rejected: int
    unfinished: int
    censored: bool
    iterations: int
    idle_iterations: int
    mean_imbalance_tokens: float
    mean_imbalance_with_idle_tokens: float
    mean_idle_share: float
    makespan_s: float
    decode_tokens: int
    throughput_tokens_per_s: float
    requests_per_s: float
    tpot: Quantiles
    ttft: Quantiles
    end_to_end: Quantiles
    single_token_requests: int
    energy_j: float

    def to_row(self) -> dict[str, float | int | bool | None]:
        """Return the metrics as one flat row; quantiles become ``tpot_p95_s`` and so on."""
        row: dict[str, float | int | bool | None] = {}
        for name, value in asdict(self).items():
            if isinstance(value, dict):
                row.update({f"{name}_{part}": number for part, number in value.items()})
            else:
                row[name] = value
        return row

    def summary(self) -> str:
        """Return aligned lines for people."""
        row = self.to_row()
        width = max(map(len, row))
        return "\n".join(f"{name:<{width}}  {_text(value)}" for name, value in row.items())


def _text(value: float | bool | None) -> str:
    if value is None:
        return "none"
    return (
        f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if value > 1 else str(value)
    )
