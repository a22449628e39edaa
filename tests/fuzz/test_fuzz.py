"""Spoilt inputs of every kind: never a traceback, a hang, or a wrong answer.

The cases depend on ``--fuzz-seed`` alone; ``--fuzz-cases 10000`` tries more of them than CI does.
A failure shows the file, in the test's temporary folder, and the command.
"""

from __future__ import annotations

import json
import signal
import zlib
from fractions import Fraction
from typing import TYPE_CHECKING

import fuzz_mutations as mutations
import fuzz_reference as reference
import numpy as np
import pytest
from fuzz_command import LIMIT_S, Outcome, command, outcome_of
from fuzz_samples import CERTIFICATE, DECISION, OPTIONS, PERIOD, STUDY_FILE, samples

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGALRM"), reason="cases are limited by SIGALRM, which is not here"
)

RUN = ("simulate", "--workers=2", "--slots=3", "--requests=12", "--max-iterations=300")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    DECISION: ("solve", "--json"),
    PERIOD: ("solve", "--json", "--form=integer"),
    CERTIFICATE: ("verify",),
    "certificates": ("verify",),
    "model": (*RUN, "--policy=brh", "--horizon=3"),
    "law": ("theory", "--p=0.2", "--workers=2", "--slots=3"),
    "trace": ("traces", "info"),
    "replay": ("simulate", "--workers=2", "--slots=3"),
    "policy": (*RUN,),
    "manifest": ("study", "status"),
}
"""The command for each kind; what it takes the file as is in `_run`."""

KINDS = (*COMMANDS, STUDY_FILE, "profile", *OPTIONS)


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> Mapping[str, tuple[tuple[str, bytes, mutations.Mutation], ...]]:
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_input_ends_in_an_answer_or_one_line(kind, valid, tmp_path, request) -> None:
    """Catches a traceback, a hang, an error of many lines, and a wrong optimum that is accepted."""
    cases = -(-request.config.getoption("--fuzz-cases") // len(KINDS))
    seed = request.config.getoption("--fuzz-seed")
    faults = []
    _compile(kind)
    if kind == "model":  # its trees are code of their own
        name, whole, _ = valid[kind][0]
        (tmp_path / name).write_bytes(whole)
        _run(kind, tmp_path / name, limit_s=300)
    for case in range(cases):
        rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), case])
        if kind in OPTIONS:
            words = _options(kind, rng)
            fault = command(*words).fault()
            shown = " ".join(word if len(word) < 99 else f"{word[:60]}..." for word in words)
        else:
            folder = tmp_path / str(case)
            folder.mkdir()
            name, content, how = valid[kind][int(rng.integers(len(valid[kind])))]
            spoilt = (how if rng.random() < 0.8 else mutations.any_bytes)(content, rng)
            (folder / name).write_bytes(spoilt)
            fault = _fault(kind, folder / name, spoilt)
            shown = str(folder / name)
        if fault is not None:
            faults.append(f"case {case}: {shown}\n{fault}")
    if faults:
        pytest.fail(f"{len(faults)} of {cases} cases\n\n" + "\n\n".join(faults), pytrace=False)


def _compile(kind: str) -> None:
    """Run the command once as it should be: compilation, a minute perhaps, is no hang."""
    words = (*kind.split(), *OPTIONS[kind].split()) if kind in OPTIONS else ()
    if kind in ("model", "policy", "replay"):
        words = (*RUN, "--policy=brh", "--horizon=3")
    if words:
        assert command(*words, limit_s=300).code == 0


def _options(kind: str, rng: np.random.Generator) -> list[str]:
    words = OPTIONS[kind].split()
    for _ in range(int(rng.choice([1, 1, 2]))):
        place = int(rng.integers(len(words)))
        name = words[place].partition("=")[0]
        words[place] = f"{name}={mutations.WORDS[int(rng.integers(len(mutations.WORDS)))]}"
    return [*kind.split(), *words]


def _run(kind: str, path: Path, limit_s: float = LIMIT_S) -> Outcome:
    if kind == STUDY_FILE:
        from olprouting.studies import read_study

        return outcome_of(lambda: _as_a_command(lambda: read_study(path).cells))
    if kind == "profile":
        from olprouting.instances.documents import read_text
        from olprouting.traces.profiles import Profile

        return outcome_of(
            lambda: _as_a_command(lambda: Profile.from_json(read_text(path), "q", str(path)))
        )
    taken_as = {
        "model": f"--forecast=learned:{path}",
        "law": f"--prompt-law={path}",
        "replay": f"--replay={path}",
        "policy": f"--policy={path}:f",
        "manifest": str(path.parent),
    }
    return command(*COMMANDS[kind], taken_as.get(kind, str(path)), limit_s=limit_s)


def _as_a_command(run) -> None:
    import sys

    try:
        run()
    except InputError as error:
        print(f"olprouting: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None


def _fault(kind: str, path: Path, content: bytes) -> str | None:
    outcome = _run(kind, path)
    fault = outcome.fault()
    if fault is not None or outcome.code != 0:
        return fault
    if kind in (DECISION, PERIOD):
        result = json.loads(outcome.out)
        value = result["objective" if kind == DECISION else "value"]
        return _wrong(kind, content, value, result["bound"], result["status"])
    if kind == CERTIFICATE:
        try:
            document = reference.read(content)
        except reference.InvalidError as error:
            return f"accepted, but the input is invalid: {error}"
        if document["schema"] != "olprouting/certificate/1":
            return None
        result = document["result"]
        inner = json.dumps(document["instance"], default=float).encode()
        if result["schema"] == "olprouting/solve-result/1":
            return _wrong(
                DECISION, inner, result["objective"], result["bound"], result["stop_reason"]
            )
        if result["form"] == "integer":
            return _wrong(PERIOD, inner, result["value"], result["bound"], result["stop_reason"])
    return None


def _wrong(kind: str, content: bytes, value, bound, status) -> str | None:
    """Return what is wrong with an accepted result, judged by trying everything."""
    try:
        optimum = (reference.decision if kind == DECISION else reference.period)(content)
    except reference.InvalidError as error:
        return f"accepted, but the input is invalid: {error}"
    except reference.TooLargeError:
        return None
    slack = 1e-6 * float(1 + abs(optimum)) if kind == PERIOD else _rounding(optimum)
    sign = 1 if kind == DECISION else -1
    if value is not None and sign * (value - optimum) < -slack:
        return f"value {value} is better than the optimum {float(optimum)!r}"
    if bound is not None and sign * (bound - optimum) > slack:
        return f"bound {bound} is beyond the optimum {float(optimum)!r}"
    if status == "optimal" and (value is None or abs(value - optimum) > slack):
        return f"optimal {value}, but the optimum is {float(optimum)!r}"
    return None


def _rounding(optimum: Fraction) -> Fraction:
    """Return half a unit in the last place of a double, 0 where values are whole."""
    return Fraction(0) if optimum.denominator == 1 else abs(optimum) / 2**51


def test_the_same_seed_gives_the_same_cases() -> None:
    """Catches a case that cannot be run again, because it depends on more than its seed."""
    spoilt = [
        mutations.json_values(b'{"a": [1, {"b": 2}], "c": 3}', np.random.default_rng(5))
        for _ in range(2)
    ]
    assert spoilt[0] == spoilt[1]
    assert _options("theory", np.random.default_rng(5)) == _options(
        "theory", np.random.default_rng(5)
    )


def test_the_reference_knows_the_optima_argued_by_hand(e1, e2) -> None:
    """Catches a referee that would let everything pass: E1 has optimum 0, E2 has 1."""
    assert reference.decision(e1.to_json().encode()) == 0
    assert reference.decision(e2.to_json().encode()) == 1
    assert "better than" in (_wrong(DECISION, e2.to_json().encode(), 0, 0, "optimal") or "")
    assert "beyond" in (_wrong(DECISION, e2.to_json().encode(), 2, 2, "optimal") or "")
