"""Dispatch on arrival beside a central queue, at a small size: what the page relies on."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dispatch")
    load_script("dispatch_on_arrival").main(["--reduced", "--out", str(folder)])
    return pd.read_csv(folder / "dispatch_on_arrival.csv")


def test_where_slots_never_fill_the_two_ways_are_the_same_run(runs):
    """Catches a way of dispatch that draws other requests, or lets a slot stand empty."""
    never = runs[runs.situation == "slots never fill"]
    both = never.pivot(index=["workers", "policy"], columns="dispatch", values="imbalance_tokens")
    both = both.dropna()
    assert len(both) == 3 * 5
    assert both.arrival.equals(both.central)


def test_random_is_worst_on_arrival_and_choosing_by_load_best(runs):
    never = runs[(runs.situation == "slots never fill") & (runs.dispatch == "arrival")]
    by_policy = never.groupby("policy").imbalance_tokens.mean()
    assert by_policy.idxmax() in ("random", "round-robin")
    assert set(by_policy.nsmallest(2).index) == {"least-load", "least-imbalance"}
