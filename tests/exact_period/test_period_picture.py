"""A period in a picture: equal requests are one variable, others are drawn over time."""

from __future__ import annotations

import json

import numpy as np
import pytest
from period_cases import e3, random_period
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.errors import InputError
from olprouting.exact import solve
from olprouting.exact.period.picture import kinds_of, picture, plot_duality, price_strip


def test_equal_requests_are_one_variable() -> None:
    """E3 again, from 18 requests. Catches use or rewards of the wrong kind."""
    problem = e3(copies=9)
    kinds = kinds_of(problem, solve(problem))
    assert kinds.rewards.tolist() == [5, 4]
    assert kinds.limit.tolist() == [9, 9]
    assert kinds.usage.tolist() == [[1, 1], [6, 4]]
    assert kinds.capacity.tolist() == [10, 48]
    assert kinds.prices == pytest.approx([2, 0.5])
    assert kinds.resources == ("slots, period 1", "KV tokens, period 1")


def test_where_all_of_a_kind_are_admitted_its_number_is_a_row_with_a_price() -> None:
    """Two requests worth 5 and 40 tokens: both start, and the rest of 10 slots is worth 4 each.

    The gradient is then 4 (1, 1) + 1 (1, 0). Catches a picture whose arrows do not add up.
    """
    problem = e3(slots=3, kv_tokens=1000, copies=2)
    ax = plot_duality(problem, solve(problem))
    objective, *parts = [np.subtract(text.xy, text.xyann) for text in ax.texts]
    assert sum(parts) == pytest.approx(objective)
    assert any("no more x wait" in label for label in ax.get_legend_handles_labels()[1])


def test_other_periods_are_drawn_over_time_with_the_ends_of_their_prices() -> None:
    problem = random_period(4)
    result = solve(problem)
    strip = price_strip(problem, result)
    assert len(strip) == 2 * problem.remaining
    slots = strip[strip["resource"] == "slots"]
    assert slots["free"].tolist() == problem.slots.sum(axis=0).tolist()
    means = result.prices.batch.mean(axis=0)
    assert (slots["low"] <= means + 1e-6).all()
    assert (means <= slots["high"] + 1e-6).all()
    assert len(picture(problem, result).axes) == 4
    with pytest.raises(InputError, match="of one worker; the period has 2"):
        plot_duality(problem, result)


def test_solve_draws_a_period(tmp_path) -> None:
    path = tmp_path / "e3.json"
    path.write_text(json.dumps(e3(copies=9).to_document()), encoding="utf-8")
    done = CliRunner().invoke(app, ["solve", str(path), "--figure", str(tmp_path / "e3.svg")])
    assert done.exit_code == 0, done.output
    assert "<svg" in (tmp_path / "e3.svg").read_text(encoding="utf-8")
    wrong = CliRunner().invoke(app, ["solve", str(path), "--figure", str(tmp_path / "e3.jpg")])
    assert "the suffix must be .svg or .pdf" in str(wrong.exception)
    unpriced = ["solve", str(path), "--form", "integer", "--figure", str(tmp_path / "i.pdf")]
    done = CliRunner().invoke(app, unpriced)
    assert isinstance(done.exception, InputError)
    assert not (tmp_path / "i.pdf").exists()
