"""The constants and bounds of the balance paper's comparison theorem."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from olprouting.theory.prompt_law import PromptLaw, as_law, check_model

if TYPE_CHECKING:
    import numpy.typing as npt

NOT_CERTIFIED = "not certified: B_0 unknown"
"""Standing of every bound that needs B >= B_0: the published text does not give B_0."""


@dataclass(frozen=True)
class TheoremConstants:
    r"""Every constant of the theorem, for one law, p, G and B.

    With q = 1 - p and A* ~ Geometric(p) - 1, independent of S ~ F on {1..s}.

    Parameters
    ----------
    p
        Completion probability per iteration.
    workers, slots
        G, and B per worker.
    total_slots
        n = G B.
    largest_prompt_tokens
        s.
    sigma2_tokens2
        sigma^2 = Var(S) + q / p^2, the variance of one slot's stationary load.
    mu2_tokens2
        mu_2 = E[(s + 1 + A*)^2] = (s + 1/p)^2 + q / p^2.
    theta0_per_token
        theta_0 = min{1 / (s + 1), -log(q) / 2}.
    V_tokens2
        V = p q E[(s + 1 + A*)^2 exp(theta_0 (s + 1 + A*))], by its closed form.
    tau_per_token
        tau = min{theta_0, p / (2 V)}.
    kappa_per_slot
        kappa = p tau / 4, the rate in exp(-kappa B).
    eps_tokens
        eps = sqrt(8 n p q mu_2 min{1, 4 G exp(-kappa B)}).
    rho
        1 - max_t P(S = t); the theorem needs rho > 0.

    References
    ----------
    arXiv 2601.17855, section 4 and EC.1 (constants), EC.1.3 (V).
    """

    p: float
    workers: int
    slots: int
    total_slots: int
    largest_prompt_tokens: int
    sigma2_tokens2: float
    mu2_tokens2: float
    theta0_per_token: float
    V_tokens2: float
    tau_per_token: float
    kappa_per_slot: float
    eps_tokens: float
    rho: float

    @property
    def saturating_requests_per_iteration(self) -> float:
        """Return n p: above it, arrivals fill every slot of a maximal policy eventually."""
        return self.total_slots * self.p

    @property
    def supply_requests_per_iteration(self) -> float | None:
        """Return n p / rho, which liminf A(k)/k must exceed; None where rho = 0."""
        return self.saturating_requests_per_iteration / self.rho if self.rho > 0 else None

    @property
    def io0_upper_bound_tokens(self) -> float | None:
        """Return (G - 1)(s + eps) / p >= limsup of the mean imbalance of IO_0.

        Certified under the supply condition; None where rho = 0, which the theorem excludes.
        """
        if self.rho <= 0:
            return None
        return (self.workers - 1) * (self.largest_prompt_tokens + self.eps_tokens) / self.p

    @property
    def scale_tokens(self) -> float:
        """Return G sigma sqrt(B log G), the order of the mean imbalance of FCFS policies."""
        sigma = math.sqrt(self.sigma2_tokens2)
        return self.workers * sigma * math.sqrt(self.slots * math.log(self.workers))

    @property
    def fcfs_lower_bound_tokens(self) -> float:
        """Return G sigma / 1024 sqrt(B log G). Not certified: it holds for B >= B_0, unknown."""
        return self.scale_tokens / 1024

    @property
    def ratio_case(self) -> str:
        """Return which form of the ratio bound applies."""
        return "eps <= s" if self.eps_tokens <= self.largest_prompt_tokens else "eps > s"

    @property
    def ratio_lower_bound(self) -> float | None:
        """Return the lower bound of mean imbalance FCFS / IO_0. Not certified: B_0 is unknown.

        p sigma / (2048 s) G / (G - 1) sqrt(B log G) where eps <= s; else the FCFS lower bound over
        the IO_0 upper bound. None where G = 1 or rho = 0.
        """
        upper = self.io0_upper_bound_tokens
        if not upper:
            return None
        if self.eps_tokens > self.largest_prompt_tokens:
            return self.fcfs_lower_bound_tokens / upper
        lower, s = self.fcfs_lower_bound_tokens, self.largest_prompt_tokens
        return lower * self.p / (2 * s * (self.workers - 1))

    def to_row(self) -> dict[str, Any]:
        """Return constants and bounds by name."""
        derived = (
            "saturating_requests_per_iteration",
            "supply_requests_per_iteration",
            "io0_upper_bound_tokens",
            "fcfs_lower_bound_tokens",
            "ratio_case",
            "ratio_lower_bound",
        )
        return asdict(self) | {name: getattr(self, name) for name in derived}


def constants(
    prompt_law: PromptLaw | int | npt.ArrayLike, p: float, workers: int, slots: int
) -> TheoremConstants:
    """Compute the constants of the theorem.

    Parameters
    ----------
    prompt_law
        The law F; a whole number s for uniform on {1..s}, or P(S = 1), P(S = 2), ...
    p
        Parameter of the decode law Geometric(p) on {1, 2, ...}, strictly between 0 and 1.
    workers, slots
        G >= 1, and B >= 1 per worker.

    Returns
    -------
    TheoremConstants
        Constants, and the bounds as properties.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """
    check_model(p, workers, slots)
    law = as_law(prompt_law)
    q, n, s = 1 - p, workers * slots, law.largest_tokens
    mu2 = (s + 1 / p) ** 2 + q / p**2
    theta0 = min(1 / (s + 1), -math.log1p(-p) / 2)
    V = exponential_moment(s, p, theta0)
    tau = min(theta0, p / (2 * V))
    kappa = p * tau / 4
    rare = min(1.0, 4 * workers * math.exp(-kappa * slots))
    return TheoremConstants(
        p=p,
        workers=workers,
        slots=slots,
        total_slots=n,
        largest_prompt_tokens=s,
        sigma2_tokens2=law.variance_tokens2 + q / p**2,
        mu2_tokens2=mu2,
        theta0_per_token=theta0,
        V_tokens2=V,
        tau_per_token=tau,
        kappa_per_slot=kappa,
        eps_tokens=math.sqrt(8 * n * p * q * mu2 * rare),
        rho=law.diversity,
    )


def exponential_moment(s: int, p: float, theta: float) -> float:
    """Return V = p q E[(s + 1 + A*)^2 e^(theta (s + 1 + A*))] in closed form (EC.1.3).

    With r = q e^theta < 1; 1 - r is computed without cancellation.
    """
    log_r = math.log1p(-p) + theta
    r, gap = math.exp(log_r), -math.expm1(log_r)
    bracket = (s + 1) ** 2 / gap + 2 * (s + 1) * r / gap**2 + r * (1 + r) / gap**3
    return p * p * (1 - p) * math.exp(theta * (s + 1)) * bracket
