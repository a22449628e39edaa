"""Make the instance library in data/instances from recorded seeds.

    python data/make_instances.py            # the instances, byte for byte, and their index
    python data/make_instances.py --solve    # also their best known results, anew (minutes)
    python data/make_instances.py --solve NAME ...   # of these only

Lengths come from this project's quantile profiles and from the laws below; no row of a public
trace is kept.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.certificates import prove_decision, verify
from olprouting.exact import SolveOptions, solve
from olprouting.hindsight import HindsightProblem, solve_hindsight
from olprouting.instances import (
    WEIGHT_SETS,
    Decision,
    DecisionResult,
    PeriodProblem,
    PeriodResult,
    SloWeights,
    StopReason,
    Trace,
)
from olprouting.library.catalogue import FOLDERS, Entry
from olprouting.traces import from_profile

if TYPE_CHECKING:
    from collections.abc import Callable

INSTANCES = Path(__file__).parent / "instances"
LIMIT_S = 60.0

Instance = Decision | PeriodProblem | HindsightProblem


@dataclasses.dataclass(frozen=True)
class Made:
    """A named instance and how it came about."""

    name: str
    family: str
    difficulty: str
    seed: int | None
    make: Callable[[], Instance]


# ---------------------------------------------------------------------------------- decisions


def completions(requests: int, rng: np.random.Generator) -> Trace:
    """Code completions: prompts around 2,000 tokens, outputs so short that many end at once."""
    prompt = np.clip(rng.lognormal(np.log(1900), 0.6, requests), 50, 7500).astype(np.int64)
    return Trace(prompt, rng.integers(1, 61, requests))


def large_prompts(requests: int, rng: np.random.Generator) -> Trace:
    """Short outputs, and among the first 32 prompts three of up to 80,000 tokens; later few."""
    prompt = np.clip(rng.lognormal(np.log(6000), 1.0, requests), 200, 30_000).astype(np.int64)
    large = np.append(rng.choice(32, 3, replace=False), np.arange(40, requests, 120))
    prompt[large] = rng.integers(40_000, 80_001, len(large))
    return Trace(prompt, rng.integers(5, 80, requests))


LAWS = {"completions": completions, "large-prompts": large_prompts}
"""Laws of lengths beside the profiles."""


def served(
    profile: str,
    seed: int,
    *,
    workers: int,
    pool: int,
    free: int,
    horizon: int = 0,
    slots: int = 72,
    gamma: str = "1",
    growth: str = "growing",
) -> Decision:
    """Return a cluster in full swing: residents of random age, free slots spread at random."""
    rng = np.random.default_rng(seed)
    free_slots = np.bincount(rng.integers(0, workers, free), minlength=workers)
    lengths = LAWS.get(profile, partial(from_profile, profile))(workers * slots + pool, rng=rng)
    prompt, decode = lengths.prompt_tokens, lengths.decode_tokens
    loads = np.zeros((workers, horizon + 1), np.int64)
    residents = iter(range(pool, pool + workers * slots))
    for g in range(workers):
        for _ in range(slots - free_slots[g]):
            i = next(residents)
            age = int(rng.integers(0, decode[i]))
            present = np.arange(min(int(decode[i]) - age, horizon + 1))
            loads[g, present] += int(prompt[i]) + age + present
    return Decision(loads, free_slots, prompt[:pool], gamma=gamma, growth=growth)


def burst(seed: int, *, workers: int, pool: int, per_worker: int, horizon: int = 0, **fields: Any):
    """Empty workers and a pool of Azure-like requests: dividing them is number partitioning."""
    rng = np.random.default_rng(seed)
    prompt = from_profile("azure-2023-conv-like", pool, rng).prompt_tokens
    return Decision(np.zeros((workers, horizon + 1)), [per_worker] * workers, prompt, **fields)


def partition(seed: int, *, workers: int, waiting: int, digits: int) -> Decision:
    """Equal workers and incommensurable sizes, all to be admitted."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10**digits, 2 * 10**digits, waiting)
    return Decision(np.zeros((workers, 1)), [-(-waiting // workers)] * workers, sizes)


def tied(seed: int, *, workers: int, waiting: int, kinds: int, free: int, horizon: int = 0):
    """Few distinct sizes and few distinct workers: many optima, much symmetry."""
    rng = np.random.default_rng(seed)
    sizes = 500 * rng.integers(1, kinds + 1, waiting)
    loads = 1000 * rng.integers(0, 3, (workers, 1)) + np.zeros((1, horizon + 1), np.int64)
    return Decision(loads, [free] * workers, sizes)


def powers(workers: int, bits: int) -> Decision:
    """Sizes 1, 2, 4, ...: every subset has a sum of its own."""
    return Decision(np.zeros((workers, 1)), [bits] * workers, 2 ** np.arange(bits))


def gaps(seed: int, *, workers: int, pool: int, horizon: int, gamma: str) -> Decision:
    """Small and huge requests only: no sum of new sizes lies near the level that is wanted."""
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(pool) < 0.5, rng.integers(1, 9, pool), rng.integers(9e3, 1e4, pool))
    loads = rng.integers(40_000, 60_000, (workers, 1)) + 30 * np.arange(horizon + 1)
    return Decision(loads, rng.integers(1, 4, workers), sizes, gamma=gamma)


def trap(workers: int) -> Decision:
    """Tempt to fill the emptiest worker with a large request, where small ones are best."""
    loads = np.full((workers, 1), 10 * workers)
    loads[0] = 0
    return Decision(loads, [1] * workers, [11 * workers, *range(1, workers + 2)])


# ------------------------------------------------------------------------------------ periods


def period(
    seed: int,
    weights: str,
    *,
    workers: int,
    slots: int,
    kv_tokens: int,
    remaining: int,
    waiting: int,
    profile: str = "azure-2023-conv-like",
    **fields: Any,
) -> PeriodProblem:
    """Workers that residents leave one by one, and a queue of requests of the profile."""
    rng = np.random.default_rng(seed)
    lengths = from_profile(profile, workers * slots + waiting, rng)
    prompt, decode = lengths.prompt_tokens, lengths.decode_tokens
    free = np.full((workers, remaining), slots)
    room = np.full((workers, remaining), kv_tokens)
    residents = iter(range(waiting, waiting + workers * slots))
    for g in range(workers):
        for _ in range(int(rng.integers(3 * slots // 4, slots))):
            i = next(residents)
            age = int(rng.integers(0, decode[i]))
            present = np.arange(min(int(decode[i]) - age, remaining))
            free[g, present] -= 1
            room[g, present] -= int(prompt[i]) + age + 1 + present
    return PeriodProblem(
        period=1,
        periods=remaining,
        weights=WEIGHT_SETS[weights],
        t1=400,
        t2=49,
        slots=free,
        kv_tokens=room,
        prompt_tokens=prompt[:waiting],
        decode_tokens=decode[:waiting],
        arrival_period=1 - rng.integers(0, 80, waiting),
        **fields,
    )


def knapsack(seed: int, *, workers: int, waiting: int, remaining: int) -> PeriodProblem:
    """Equal workers, requests of nearly proportional worth and size."""
    rng = np.random.default_rng(seed)
    decode = rng.integers(5, 60, waiting)
    return PeriodProblem(
        period=1,
        periods=remaining,
        weights=SloWeights(1, 0, 0, 1, 0, 0),
        t1=400,
        t2=49,
        slots=np.full((workers, remaining), 7),
        kv_tokens=np.full((workers, remaining), 1511),
        prompt_tokens=7 * decode + rng.integers(0, 9, waiting),
        decode_tokens=decode,
        arrival_period=np.ones(waiting, int),
    )


# ---------------------------------------------------------------------------------- hindsight


def run(
    seed: int,
    weights: str,
    *,
    requests: int,
    periods: int,
    slots: list[int],
    kv_tokens: list[int],
    profile: str = "azure-2023-conv-like",
    batching: str = "decode",
) -> HindsightProblem:
    """Return requests that arrive uniformly in the first two thirds of the periods."""
    rng = np.random.default_rng(seed)
    lengths = from_profile(profile, requests, rng)
    return HindsightProblem(
        prompt_tokens=lengths.prompt_tokens,
        decode_tokens=lengths.decode_tokens,
        arrival_period=np.sort(rng.integers(1, max(2, 2 * periods // 3), requests)),
        slots=slots,
        kv_tokens=kv_tokens,
        weights=WEIGHT_SETS[weights],
        periods=periods,
        t1=400,
        t2=49,
        batching=batching,
        age_offset=0 if batching == "mixed" else 1,
    )


def example(kind: Any, name: str) -> Instance:
    """One of data/examples, written by hand."""
    path = Path(__file__).parent / "examples" / f"{name}.json"
    return kind.from_json(path.read_text(encoding="utf-8"))


# ---------------------------------------------------------------------------------- the list


def library() -> list[Made]:
    """Name every instance; the order is that of the index."""
    made = [
        Made("e1", "hand", "tiny", None, lambda: example(Decision, "e1")),
        Made("e2", "hand", "tiny", None, lambda: example(Decision, "e2")),
    ]

    def add(name: str, family: str, difficulty: str, seed: int | None, make: Any, **size: Any):
        def built() -> Instance:
            return make(**size) if seed is None else make(seed, **size)

        made.append(Made(name, family, difficulty, seed, built))

    def azure(difficulty: str, seed: int, **size: Any) -> None:
        add(_name("azure", size), "azure-like", difficulty, seed, azure_like, **size)

    azure("tiny", 101, workers=2, pool=6, free=3)
    azure("tiny", 102, workers=2, pool=8, free=4, horizon=80, gamma="0.86")
    azure("tiny", 103, workers=3, pool=5, free=8, horizon=8, gamma="0.5", growth="frozen")
    azure("tiny", 104, workers=4, pool=32, free=3, horizon=80, gamma="0.86")
    azure("medium", 105, workers=4, pool=64, free=8, horizon=80, gamma="0.86")
    azure("medium", 106, workers=4, pool=64, free=8)
    for free, seed in ((3, 110), (8, 111), (16, 112), (32, 113)):
        azure("medium", seed, workers=8, pool=32, free=free)
        azure("medium", seed, workers=8, pool=32, free=free, horizon=80, gamma="0.86")
    for free, seed in ((3, 120), (8, 121), (16, 122), (32, 123)):
        azure("medium", seed, workers=8, pool=200, free=free)
        azure("medium", seed, workers=8, pool=200, free=free, horizon=80, gamma="0.86")
    azure("medium", 130, workers=8, pool=32, free=8, horizon=80)
    azure("medium", 130, workers=8, pool=32, free=8, horizon=80, gamma="0.5")
    azure("medium", 130, workers=8, pool=32, free=8, horizon=80, gamma="0.86", growth="frozen")
    azure("medium", 131, workers=8, pool=6, free=12, horizon=80, gamma="0.86")
    azure("medium", 140, workers=16, pool=64, free=16)
    azure("medium", 140, workers=16, pool=64, free=16, horizon=80, gamma="0.86")
    azure("medium", 141, workers=16, pool=400, free=16)
    azure("medium", 141, workers=16, pool=400, free=16, horizon=80, gamma="0.86")
    azure("hard", 142, workers=16, pool=64, free=32, horizon=80, gamma="0.5", growth="frozen")
    for profile in ("burstgpt-like", "mooncake-conv-like"):
        short = profile.split("-")[0]
        size = {"workers": 8, "pool": 64, "free": 8, "horizon": 80, "gamma": "0.86"}
        make = {"burstgpt": burstgpt_like, "mooncake": mooncake_like}[short]
        add(_name(short, size), profile, "medium", 150, make, **size)
    for law, seed in (("completions", 400), ("large-prompts", 420)):
        for workers, pool, free, horizon in (
            (8, 32, 30, 0), (8, 64, 30, 80), (8, 200, 30, 80), (16, 64, 32, 0), (16, 64, 32, 80),
            (16, 200, 32, 80),
        ):  # fmt: skip
            size = {"workers": workers, "pool": pool, "free": free, "horizon": horizon}
            size |= {"gamma": "0.86"} if horizon else {}
            seed += 1
            add(_name(law, size), law, "hard", seed, partial(served, law), **size)
    add("burst-g4-w16", "burst", "hard", 160, burst, workers=4, pool=16, per_worker=4)
    add("burst-g8-w32", "burst", "hard", 161, burst, workers=8, pool=32, per_worker=4)
    add("burst-g8-p36-h20", "burst", "hard", 162, burst, workers=8, pool=36, per_worker=4,
        horizon=20, gamma="0.86")  # fmt: skip
    add("partition-g2-w12", "partition", "tiny", 170, partition, workers=2, waiting=12, digits=6)
    add("partition-g3-w18", "partition", "hard", 171, partition, workers=3, waiting=18, digits=6)
    add("partition-g8-w32", "partition", "hard", 172, partition, workers=8, waiting=32, digits=9)
    add("ties-g4-w8", "ties", "tiny", 180, tied, workers=4, waiting=8, kinds=3, free=2)
    add("ties-g8-w40", "ties", "medium", 181, tied, workers=8, waiting=40, kinds=4, free=3)
    add("ties-g8-w20-h20", "ties", "medium", 182, tied, workers=8, waiting=20, kinds=4, free=2,
        horizon=20)  # fmt: skip
    add("powers-g3-w10", "adversarial", "tiny", None, powers, workers=3, bits=10)
    add("gaps-g4-p16", "adversarial", "medium", 190, gaps, workers=4, pool=16, horizon=0, gamma="1")
    add("gaps-g8-p40-h20", "adversarial", "hard", 191, gaps, workers=8, pool=40, horizon=20,
        gamma="0.86")  # fmt: skip
    add("trap-g6", "adversarial", "tiny", None, trap, workers=6)

    made.append(Made("e3", "hand", "tiny", None, lambda: example(PeriodProblem, "e3")))
    small = {"workers": 2, "slots": 6, "kv_tokens": 8500, "remaining": 20, "waiting": 8}
    usual = {"workers": 4, "slots": 29, "kv_tokens": 40_000, "remaining": 150, "waiting": 40}
    for weights, seed in (("tail-latency", 201), ("requests", 202), ("latency-only", 203)):
        add(f"period-tiny-{weights}", "azure-like", "tiny", seed, period, weights=weights, **small)
    for weights, seed in (
        ("tail-latency", 211), ("requests", 212), ("latency-only", 213), ("tail-only", 214),
        ("latency", 215), ("throughput", 216), ("throughput-only", 217),
    ):  # fmt: skip
        add(f"period-{weights}", "azure-like", "medium", seed, period, weights=weights, **usual)
    add("period-mixed", "azure-like", "medium", 221, period, weights="latency", batching="mixed",
        **usual)  # fmt: skip
    add("period-burstgpt", "burstgpt-like", "medium", 222, period, weights="tail-latency",
        profile="burstgpt-like", **usual)  # fmt: skip
    add("knapsack-g2-w12", "knapsack", "medium", 231, knapsack, workers=2, waiting=12, remaining=40)
    add("knapsack-g6-w90", "knapsack", "hard", 232, knapsack, workers=6, waiting=90, remaining=40)

    add("hindsight-tiny", "azure-like", "tiny", 301, run, weights="tail-latency", requests=6,
        periods=30, slots=[2], kv_tokens=[6000])  # fmt: skip
    add("hindsight-tiny-mixed", "azure-like", "tiny", 302, run, weights="latency", requests=8,
        periods=40, slots=[2, 1], kv_tokens=[6000, 4000], batching="mixed")  # fmt: skip
    for weights, seed in (("tail-latency", 311), ("requests", 312), ("throughput", 313)):
        add(f"hindsight-{weights}", "azure-like", "medium", seed, run, weights=weights,
            requests=60, periods=300, slots=[6] * 3, kv_tokens=[8000] * 3)  # fmt: skip
    add("hindsight-burstgpt", "burstgpt-like", "medium", 321, run, weights="tail-latency",
        requests=80, periods=300, slots=[4, 4, 8], kv_tokens=[3000, 3000, 6000],
        profile="burstgpt-like")  # fmt: skip
    add("hindsight-300", "azure-like", "hard", 331, run, weights="tail-latency", requests=300,
        periods=1000, slots=[8] * 4, kv_tokens=[12_000] * 4)  # fmt: skip
    return made


def azure_like(seed: int, **size: Any) -> Decision:
    """Lengths like those of the Azure conversation trace."""
    return served("azure-2023-conv-like", seed, **size)


def burstgpt_like(seed: int, **size: Any) -> Decision:
    """Lengths like BurstGPT's."""
    return served("burstgpt-like", seed, **size)


def mooncake_like(seed: int, **size: Any) -> Decision:
    """Lengths like those of the Mooncake conversation trace."""
    return served("mooncake-conv-like", seed, **size)


def _name(family: str, size: dict[str, Any]) -> str:
    """Return azure-g8-p32-c3-h80-y0.86: workers, pool, free slots, horizon, gamma, frozen."""
    parts = [family, f"g{size['workers']}", f"p{size['pool']}", f"c{size['free']}"]
    if size.get("horizon"):
        parts += [f"h{size['horizon']}", f"y{size.get('gamma', '1')}"]
    if size.get("growth") == "frozen":
        parts.append("frozen")
    return "-".join(parts)


def size_of(instance: Instance) -> dict[str, Any]:
    """Return the dimensions that the index shows."""
    if isinstance(instance, Decision):
        return {
            "workers": instance.workers,
            "waiting": instance.waiting,
            "free_slots": int(instance.free_slots.sum()),
            "horizon": instance.horizon,
            "gamma": str(instance.gamma),
            "growth": str(instance.growth),
        }
    if isinstance(instance, HindsightProblem):
        return {
            "workers": len(instance.slots),
            "requests": len(instance),
            "periods": instance.periods,
            "batching": instance.batching,
        }
    return {
        "workers": instance.workers,
        "waiting": instance.waiting,
        "periods": instance.remaining,
        "batching": str(instance.batching),
    }


# -------------------------------------------------------------------------------- best known


def best_results(instance: Instance) -> list[dict[str, Any]]:
    """Solve an instance as well as can be done in a minute."""
    options = SolveOptions(time_limit_s=LIMIT_S)
    if isinstance(instance, Decision):
        result = solve(instance, options=options)
        proof = prove_decision(instance, result.assignment)
        return [_record("imbalance", _lifted(result, Fraction(proof["bound"])), proof)]
    if isinstance(instance, HindsightProblem):
        return [{"program": "hindsight", "result": _hindsight(instance)}]
    lp = solve(instance, options=options, test_uniqueness=False)
    whole = solve(
        instance,
        formulation="integer",
        prices="lp-relaxation",
        options=options,
        test_uniqueness=False,
    )
    return [_record("lp", lp), _record("integer", whole)]


def _hindsight(problem: HindsightProblem) -> dict[str, Any]:
    """Return bound and schedule without the problem, which has a file of its own."""
    result = solve_hindsight(problem, name="library", time_limit_s=LIMIT_S / 2, gap=1e-6)
    plain = dataclasses.replace(result, wall_s=0.0, proof_s=0.0, evaluations=0, history=())
    document = plain.to_document()
    left_out = ("problem", "problem_sha256", "versions")
    return {name: document[name] for name in document if name not in left_out}


def _lifted(result: DecisionResult, proven: Fraction) -> DecisionResult:
    """Return the result with a bound that was proven exactly, where it is the better one."""
    assert result.value is not None
    assert result.bound is not None
    if proven <= result.bound:
        return result
    if float(proven) == result.value:
        return dataclasses.replace(result, bound=result.value, stop_reason=StopReason.OPTIMAL)
    return dataclasses.replace(result, bound=float(proven))


def _record(
    program: str, result: DecisionResult | PeriodResult, proof: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a result as the index keeps it: nothing of the run or the machine."""
    plain = dataclasses.replace(result, wall_s=0.0, build_s=0.0, limit_s=None, message="")
    document = plain.to_document()
    return {"program": program, "result": document} | ({"proof": proof} if proof else {})


# -------------------------------------------------------------------------------------- files


def kind_and_text(instance: Instance) -> tuple[str, str]:
    """Return what an instance is called, and the text of its file."""
    if isinstance(instance, HindsightProblem):
        return "hindsight", json.dumps(instance.to_document()) + "\n"
    kind = "decision" if isinstance(instance, Decision) else "period"
    return kind, instance.to_json() + "\n"


def write(folder: Path, solve_names: set[str] | None = None) -> None:
    """Write all instances and the index; keep known results but those named in `solve_names`."""
    index = folder / "index.json"
    known: dict[str, list[dict[str, Any]]] = {}
    if index.is_file():
        listed = json.loads(index.read_text(encoding="utf-8"))["instances"]
        known = {one["name"]: one["best"] for one in listed}
    lines = []
    for made in library():
        instance = made.make()
        kind, text = kind_and_text(instance)
        path = folder / FOLDERS[kind] / f"{made.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        if solve_names is not None and (not solve_names or made.name in solve_names):
            sys.stderr.write(f"{made.name}\n")
            known[made.name] = best_results(instance)
        entry = {
            "name": made.name,
            "kind": kind,
            "family": made.family,
            "difficulty": made.difficulty,
            "seed": made.seed,
            "size": size_of(instance),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "best": known.get(made.name, []),
        }
        for best in entry["best"]:
            certificate = json.dumps(Entry(**entry).certificate(best["program"], text))
            best["verdict"] = verify(certificate, made.name).verdict.name.lower()
        lines.append(json.dumps(entry))
    body = ",\n".join(lines)
    index.write_text(
        f'{{"schema": "olprouting/instances/1", "instances": [\n{body}\n]}}\n',
        encoding="utf-8",
        newline="\n",
    )


def main() -> None:
    """Write the library."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--solve", nargs="*", metavar="NAME", help="solve these, or all")
    asked = arguments.parse_args().solve
    write(INSTANCES, None if asked is None else set(asked))


if __name__ == "__main__":
    main()
