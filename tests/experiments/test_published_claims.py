"""Claims of the papers, measured: what their pages rely on, at a small size."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script


def test_long_outputs_are_foreseen_and_memoryless_ones_are_not(tmp_path):
    """Catches questions about training requests, which would be foreseen however they end."""
    load_script("forecast_accuracy").main(["--reduced", "--out", str(tmp_path)])
    table = pd.read_csv(tmp_path / "forecast_accuracy.csv")
    auc = table[table.forecast == "survival"].set_index("requests").auc
    assert auc["long outputs"] > 0.9
    assert 0.3 < auc["30002 means"] < 0.7


def test_load_is_against_what_the_tighter_resource_carries():
    """By hand: 8 slots and 2,400 tokens. Of 4 + 8 tokens a request holds 8.5 on average: 8 fit by
    slots, 282 by tokens. Of 600 + 1 tokens it holds 601: 3.99 fit by tokens.
    """
    script = load_script("which_prices_dominate")
    assert script.held_tokens(4, 8) == 8.5
    assert script.most_per_period(4, 8) == pytest.approx(8 * 4 / 8)
    assert script.most_per_period(600, 1) == pytest.approx(2400 / 601 * 4)


def test_slots_carry_the_price_of_short_requests_and_tokens_that_of_long_ones():
    script = load_script("which_prices_dominate")
    short, long = (script.cell("1:4", tokens, 1.2, 0, 30) for tokens in script.TOKENS)
    assert short["slot_share_percent"] > 50 > long["slot_share_percent"]
