"""The ten questions of each guide are answered on traces that no guide and no example uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_line import olprouting

if TYPE_CHECKING:
    from pathlib import Path

GAPS = {
    "who balances best while requests wait": r"While requests wait, \w+ balances best: mean imb",
    "by how much": r"jsq leaves [\d.]+ times that, [\d,]+ tokens \([\d,-]+ to [\d,]+\) more",
    "is it more than chance": r"more than chance|cannot be told apart from it",
    "how far from optimal": r"above the best found, which leaves [\d,]+",
    "how much of jsq's excess, between which limits": r"avoids -?\d+% \(-?\d+% to -?\d+%\)",
    "which decisions are unproven": r"All \d+ optima are proven|optima are unproven \(iteration",
    "what lookahead brings, in decisions and in runs": r"Lookahead, judged .*"
    r"(In its runs, while requests wait, brh|Nor can their runs)",
    "what it costs in waiting": r"requests wait [\d.]+ s for a slot on average, .* or longer, ",
    "what the tail does": r"\d+% of its imbalance arises there, [\d,]+ tokens on average",
    "what was judged by which program, and what next": r"judged by the coming iteration alone "
    r"\(H = 0\).* A decision takes \d+ to \d+ us.* next: ",
}

PRICES = {
    "do prices help, by more than chance": r"Prices: bid-price collects [+-]?[\d,]+ \(.*\) reward",
    "or is it the order": r"Order: prices-0, which chooses whom to admit by reward alone",
    "what the intervals are of": r"interval over 10 blocks of consecutive requests",
    "what latencies leave out": r"requests without count until the run ended",
    "who pays, by size and class": r"Who waits.* by size .*Who waits.* by class ",
    "what binds, and when": r"Capacity: in (\d+|none) of \d+ sampled.*What is short, and when",
    "what a slot and a token cost": r"a slot costs [\d.e-]+ \(.*\) reward a period, 1,000 KV",
    "how good the prices are": r"learned prices are [\d.]+ times as far|was not measured",
    "how far from a period's optimum": r"One period: .* worth \d+% of the integer optimum",
    "how long a call takes, and what next": r"Times of a routing call, ms.* next: ",
}


def two_humps(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Short questions and long documents; answers of a few tokens, or of many."""
    long = rng.random(size) < 0.2
    prompts = np.where(long, rng.integers(400, 900, size), rng.integers(2, 16, size))
    return prompts, np.where(rng.random(size) < 0.5, rng.geometric(0.3, size), 40)


def heavy_tail(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A few requests hold most of the tokens."""
    prompts = (20 * (1 + rng.pareto(1.3, size))).astype(int).clip(max=2000)
    return prompts, rng.geometric(1 / 12, size).clip(max=60)


def alike(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Requests of nearly one size, so that balance is nearly free."""
    return rng.integers(95, 106, size), rng.integers(10, 14, size)


@pytest.fixture(params=[two_humps, heavy_tail, alike], ids=lambda law: law.__name__)
def trace(request, tmp_path: Path) -> Path:
    rng = np.random.default_rng(77)
    prompts, decodes = request.param(rng, 120)
    path = tmp_path / "unseen.csv"
    rows = "".join(f"{p},{o}\n" for p, o in zip(prompts, decodes, strict=True))
    path.write_text("prompt_tokens,decode_tokens\n" + rows, encoding="utf-8")
    return path


def unanswered(questions: dict[str, str], *command: str) -> list[str]:
    """Return the questions of which a page's text has no answer."""
    done = olprouting(*command)
    assert done.returncode == 0, done.stderr
    page = " ".join((done.stdout + done.stderr).split())
    return [question for question, answer in questions.items() if not re.search(answer, page)]


def test_gaps_answers_its_ten_questions_on_any_trace(trace: Path) -> None:
    """Catches an answer that is given for the example of the guide alone."""
    small = ("--workers", "3", "--slots", "6", "--waiting", "8", "--horizon", "10")
    judged = ("--decisions", "25", "--replications", "3", "--policies", "jsq,br0,brh")
    assert unanswered(GAPS, "gaps", "--trace", str(trace), *small, *judged) == []


def test_prices_answers_its_ten_questions_on_any_trace(trace: Path) -> None:
    small = ("--workers", "2", "--slots", "6", "--kv-tokens", "2500", "--requests", "60")
    judged = ("--rate", "0.8", "--periods", "150", "--sample", "4", "--details")
    assert unanswered(PRICES, "prices", "--trace", str(trace), *small, *judged) == []
