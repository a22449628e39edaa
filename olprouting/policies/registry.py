"""Routing policies by name: the built-in ones, registered ones, and functions in a file."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError, said, unknown_name
from olprouting.instances._checks import whole
from olprouting.options import PolicyOptions
from olprouting.policies import parameters
from olprouting.policies.exact import ExactPolicy
from olprouting.policies.policy import CompiledPolicy, FunctionPolicy, Policy, RouteFunction

if TYPE_CHECKING:
    from types import ModuleType

MAX_ENUMERATED_WINDOW = 8
"""Up to this R_max Stage 2 enumerates subsets, beyond it searches reachable totals: where their
times cross (10 and 7 microseconds an iteration at 9, 57 and 7 at 12, 8 workers x 72)."""

Factory = Callable[[int, PolicyOptions], Policy]
"""Makes a policy for a number of workers and options."""

_FCFS = {
    "random": parameters.RANDOM,
    "round-robin": parameters.ROUND_ROBIN,
    "power-of-two": parameters.POWER_OF_TWO,
    "jsq": parameters.JSQ,
    "least-load": parameters.LEAST_LOAD,
}
_ROUTERS = {
    "vllm": parameters.LoadWeights(4, 1, 0, 0),
    "llm-d": parameters.LoadWeights(2, 0, 0, 2, relative=True),
    "dynamo": parameters.LoadWeights(0, 0, 2, 1),
}
"""Load terms of routers that people run; docs/where-requests-wait.md says where they are from."""

_SGLANG = parameters.BalanceThresholds(absolute=64, relative=1.5)
"""Defaults of SGLang's gateway."""

_PERIOD_POLICIES = (
    "bid-price",
    "prices-0",
    "bid-price-exact",
    "lp-rounding",
    "period-integer",
    "reward-density",
)
_BUILT_IN = (
    *_FCFS,
    *_ROUTERS,
    "sglang",
    "least-imbalance",
    "br0",
    "brh",
    "exact",
    *_PERIOD_POLICIES,
)
_REGISTERED: dict[str, Factory] = {}


def policy_names() -> tuple[str, ...]:
    """Return the names that `make_policy` knows."""
    return (*_BUILT_IN, *_REGISTERED)


def register_policy(
    name: str, horizon: int = 0, *, maximal: bool = True, needs_residents: bool = False
) -> Callable[[RouteFunction], RouteFunction]:
    """Register a plain Python function as a routing policy (decorator).

    Parameters
    ----------
    name
        The name by which `make_policy`, `simulate` and the reports know it.
    horizon
        Lookahead H of the views it gets.
    maximal
        Whether it always admits all that slots allow; else at most so many, even none.
    needs_residents
        Whether its views have ``workers``.

    Raises
    ------
    InputError
        If the name is a built-in policy's.

    Examples
    --------
    >>> @register_policy("first-worker")
    ... def first_worker(view, rng):
    ...     free = np.repeat(np.arange(len(view.free_slots)), view.free_slots)
    ...     return enumerate(free[: view.admissions])
    """
    if name in _BUILT_IN:
        raise InputError(f"policy name {name!r} is built in; choose another")

    def register(function: RouteFunction) -> RouteFunction:
        _REGISTERED[name] = lambda workers, options: FunctionPolicy(
            name, function, horizon, maximal, needs_residents
        )
        return function

    return register


def make_policy(name: str, workers: int, options: PolicyOptions | None = None) -> Policy:
    """Return the routing policy called `name`.

    Parameters
    ----------
    name
        A built-in or registered name (`policy_names`), or ``FILE.py:function`` or
        ``module:function`` for a function ``(view, rng) -> pairs`` of the user's.
    workers
        Number of workers G of the cluster it will route for.
    options
        Options of the built-in policies.

    Raises
    ------
    InputError
        If the name is unknown (the known ones are listed), or `workers` is no number of workers.
    """
    options = options or PolicyOptions()
    whole("workers", workers, 1)
    if name in _FCFS:
        return CompiledPolicy(
            name, parameters.PolicyParameters(_FCFS[name], options.ties == "random")
        )
    if name in _ROUTERS:
        return weighted_load_policy(name, _ROUTERS[name], options)
    if name == "sglang":
        return CompiledPolicy(
            name,
            parameters.PolicyParameters(None, options.ties == "random", thresholds=_SGLANG),
            np.zeros(workers, np.int64),
        )
    if name == "least-imbalance":
        return CompiledPolicy(name, _imbalance_parameters(options))
    if name == "br0":  # F0 is the horizon score at H = 0 and beta = G
        return CompiledPolicy(name, _balance_parameters(options, workers, np.ones(1), 0))
    if name == "brh":
        weights = _discounts(options)
        growing = int(options.br_growth == "growing")
        return CompiledPolicy(name, _balance_parameters(options, options.beta, weights, growing))
    if name == "exact":
        return ExactPolicy(
            horizon=options.horizon,
            gamma=options.gamma if options.horizon else 1,
            growth=options.growth,
            solver=options.solver,
            formulation=options.formulation,
            time_limit_s=options.time_limit_s,
            warm_start=make_policy("br0", workers, options),
        )
    if name in _PERIOD_POLICIES:
        return _period_policy(name, options)
    if name in _REGISTERED:
        return _REGISTERED[name](workers, options)
    if ":" in name:
        return FunctionPolicy(name, _function_at(name))
    raise unknown_name("policy", name, (*policy_names(), "FILE.py:function"))


def weighted_load_policy(
    name: str, weights: parameters.LoadWeights, options: PolicyOptions | None = None
) -> CompiledPolicy:
    """Return a policy that sends each request to the worker with the least weighted load.

    The form of the routers ``vllm``, ``llm-d`` and ``dynamo``, with weights of one's own.

    Parameters
    ----------
    name
        What reports call it.
    weights
        Weights of queued and running requests and tokens.
    options
        How ties are broken.

    Examples
    --------
    >>> policy = weighted_load_policy("tokens", LoadWeights(0, 0, 1, 1))
    """
    random_ties = (options or PolicyOptions()).ties == "random"
    return CompiledPolicy(
        name,
        parameters.PolicyParameters(
            fcfs=None,
            random_ties=random_ties,
            load_weights=weights._replace(  # an int would compile all kernels once more
                queued_requests=float(weights.queued_requests),
                running_requests=float(weights.running_requests),
                queued_tokens=float(weights.queued_tokens),
                running_tokens=float(weights.running_tokens),
            ),
        ),
    )


def _period_policy(name: str, options: PolicyOptions) -> Policy:
    from olprouting.exact import SolveOptions
    from olprouting.policies.bid_price import BidPricePolicy, ExactBidPricePolicy
    from olprouting.policies.period_programs import PeriodProgramPolicy
    from olprouting.policies.reward_density import RewardDensityPolicy

    random_ties = options.ties == "random"
    if name == "reward-density":
        return RewardDensityPolicy(name, options.period, random_ties=random_ties)
    if name in ("bid-price", "prices-0"):
        learning = options.bid_price
        if name == "prices-0":  # the control: all as with bid-price, but no price is ever learned
            learning = replace(learning, steps=0)
        return BidPricePolicy(name, options.period, learning, random_ties=random_ties)
    solve_options = SolveOptions(time_limit_s=options.time_limit_s)
    if name == "bid-price-exact":
        return ExactBidPricePolicy(
            name,
            options.period,
            options.bid_price,
            random_ties=random_ties,
            solver=options.solver,
            solve_options=solve_options,
        )
    return PeriodProgramPolicy(
        name,
        options.period,
        random_ties=random_ties,
        formulation="lp" if name == "lp-rounding" else "integer",
        solver=options.solver,
        solve_options=solve_options,
    )


def _discounts(options: PolicyOptions) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return gamma^h for h = 0..H."""
    return options.gamma ** np.arange(options.horizon + 1, dtype=np.float64)


def _imbalance_parameters(options: PolicyOptions) -> parameters.PolicyParameters:
    return parameters.PolicyParameters(
        fcfs=None,
        random_ties=options.ties == "random",
        imbalance=parameters.ImbalanceParameters(
            _discounts(options), int(options.growth == "growing")
        ),
    )


def _balance_parameters(
    options: PolicyOptions,
    overflow_penalty: float,
    offset_weights: np.ndarray[tuple[int], np.dtype[np.float64]],
    growing: int,
) -> parameters.PolicyParameters:
    enumerates = options.subset_search == "enumerate" or (
        options.subset_search == "auto" and options.r_max <= MAX_ENUMERATED_WINDOW
    )
    return parameters.PolicyParameters(
        fcfs=None,
        random_ties=options.ties == "random",
        balance=parameters.BalanceParameters(
            overflow_penalty=float(overflow_penalty),  # an int would compile all kernels once more
            offset_weights=offset_weights,
            growing=growing,
            window=options.r_max,
            greedy_slots=options.s_greedy,
            search_totals=None if enumerates else True,
        ),
    )


def _function_at(place: str) -> RouteFunction:
    where, _, attribute = place.rpartition(":")
    try:
        module = (
            _load_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        )
        function = getattr(module, attribute, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the user's code does
        raise InputError(f"policy {place!r}: cannot load it: {_what(error)}") from None
    if function is None:
        near = difflib.get_close_matches(attribute, vars(module), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"policy {place!r}: {where} has no function {attribute!r}{hint}")
    if not callable(function):
        raise InputError(f"policy {place!r}: {attribute} is not a function")
    return function  # type: ignore[no-any-return]


def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    ours = sys.modules.setdefault(path.stem, module) is module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if ours:  # what is half loaded must not be found by the next import
            del sys.modules[path.stem]
        raise
    return module


def _what(error: BaseException) -> str:
    """Say what loading raised, and the line of the user's own code it came from."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    what = said(error)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f"{own[-1].filename}, line {own[-1].lineno}: {what}" if own else what
