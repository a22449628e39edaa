"""Reduced forms of the balance paper's tables: they hold what the side-by-side tables compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from experiment_scripts import EXPERIMENTS, load_script

from olprouting.errors import InputError
from olprouting.studies import Results, read_study, run_study


def cells_of(study, folder):
    status = run_study(study, folder, jobs=1)
    assert status.complete
    return Results.read(folder).frame("cells")


@pytest.fixture(scope="module")
def table_3(tmp_path_factory):
    study = read_study(EXPERIMENTS / "balance_table_3.toml", reduced=True)
    return cells_of(study, tmp_path_factory.mktemp("table_3"))


def test_table_3_names_the_published_rows_and_their_forecasts():
    study = read_study(EXPERIMENTS / "balance_table_3.toml")
    assert study.settings["workers"] == 8
    assert study.settings["horizon"] == 80
    settings = {policy.name: policy.settings for policy in study.policies}
    assert settings["BR-H oracle (43, 0.86)"] == {"beta": 43.0, "gamma": 0.86}
    assert settings["BR-H oracle (14.67, 0.64)"] == {"beta": 14.67, "gamma": 0.64}
    assert settings["BR-H survival"]["forecast"] == "survival"
    assert settings["BR-H exact-match"]["forecast"] == "exact-match"
    assert {"random", "round-robin", "power-of-two", "jsq", "br0"} <= set(settings)


def test_every_br_variant_beats_every_baseline_while_requests_wait(table_3):
    """Table 3's claim, on the part of the run in which there is something to choose."""
    waiting = table_3[table_3.max_iterations == 100].set_index("policy").mean_imbalance_tokens
    br = [name for name in waiting.index if name.startswith(("br0", "BR-H"))]
    assert len(br) == 5
    assert waiting[br].max() < waiting.drop(br).min()


def test_more_workers_mean_more_imbalance_for_every_policy(tmp_path):
    """Table 4, read along its rows."""
    study = read_study(EXPERIMENTS / "balance_table_4.toml", reduced=True)
    cells = cells_of(study, tmp_path / "table_4")
    by_size = cells.pivot(index="policy", columns="workers", values="mean_imbalance_tokens")
    assert list(by_size.columns) == [4, 8]
    assert (by_size[8] > by_size[4]).all()
    assert (cells.unfinished > 0).all(), "no run may reach the part without waiting requests"
    assert read_study(EXPERIMENTS / "balance_table_4.toml").grid["workers"] == (4, 8, 16)


def test_trajectories_are_of_every_policy_source_and_size(tmp_path):
    """Catches a picture or a row that is missing, and a run in which nobody waits."""
    script = load_script("trajectories")
    script.main(["--reduced", "--out", str(tmp_path)])
    table = pd.read_csv(tmp_path / "trajectories.csv")
    assert len(table) == 2 * 2 * 3
    assert (table.imbalance_tokens > 0).all()
    by_policy = table.groupby("policy").imbalance_tokens.mean()
    assert by_policy["BR-0"] < by_policy["JSQ"]
    assert len(list(tmp_path.glob("trajectories_*.png"))) == 4


def test_a_study_runs_on_another_trace_and_on_nothing_else(tmp_path):
    study = read_study(EXPERIMENTS / "balance_table_4.toml", reduced=True)
    moved = load_script("on_trace").on_traces(study, ["geometric:0.05:20"])
    assert moved.grid["source"] == ("geometric:0.05:20",)
    assert len(moved.cells) == len(study.cells)
    assert not {cell.id for cell in moved.cells} & {cell.id for cell in study.cells}
    assert moved.settings | {"source": study.settings["source"]} == study.settings


def test_long_outputs_have_the_published_means(tmp_path):
    """Balance paper, section 6.1: 4,652 prompt and 1,052 output tokens, none of 1,000 or less."""
    import olprouting as olp

    load_script("long_outputs").main(tmp_path / "long.csv", requests=2000, seed=0)
    trace = olp.resolve(tmp_path / "long.csv")
    assert len(trace) == 2000
    assert trace.prompt_tokens.mean() == pytest.approx(4652, rel=1e-3)
    assert trace.decode_tokens.min() > 1000
    assert trace.decode_tokens.mean() == pytest.approx(1052, abs=6)  # five standard errors


def test_improvements_are_paired_and_signed_so_that_more_is_better():
    """By hand: latencies fall by 2 of a mean of 15, satisfaction rises by 0.1 of 0.5."""
    rows = [
        ("base", 0, 10.0, 0.5),
        ("base", 1, 20.0, 0.5),
        ("mine", 0, 8.0, 0.6),
        ("mine", 1, 18.0, 0.6),
    ]
    cells = pd.DataFrame(rows, columns=["policy", "seed", "ttft_mean", "satisfaction"])
    script = load_script("relative_improvement")
    table = script.improvements(cells, ["ttft_mean", "satisfaction"], [], "base")
    assert list(table.policy) == ["mine", "mine"]
    assert table["mean"].to_numpy() == pytest.approx([100 * 2 / 15, 20.0])
    assert table.low.to_numpy() == pytest.approx(table["mean"].to_numpy())
    with pytest.raises(InputError, match="bass"):
        script.improvements(cells, ["ttft_mean"], [], "bass")
    still = cells.assign(ttft_mean=0.0)
    assert not np.isfinite(script.improvements(still, ["ttft_mean"], [], "base")["mean"]).any()
