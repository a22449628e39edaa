"""Reports: right intervals, tables in three formats, figures that apply, one whole page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from browser import asked, needs_browser
from study_files import SMALL, write

from olprouting.errors import InputError
from olprouting.studies import Results, read_study, run_study, study_report
from olprouting.studies.outcome import CELLS
from olprouting.studies.summary import front, performance_ratios, summarise
from olprouting.studies.tables import to_latex, to_markdown, wide

if TYPE_CHECKING:
    from pathlib import Path


GRID = SMALL.replace(
    "r_max = [2, 4, 8]", 'r_max = [2, 4]\ns_greedy = [0, 7]\nsource = ["ratio:1:4:60"]'
).replace('source = "azure-2023-conv-like"', "") + (
    '\n[outputs]\nseries_every = 2\npareto = ["mean_imbalance_tokens", "tpot_mean_s"]\n'
)

PRICES = """
kind = "prices"
policies = ["bid-price", "<b>&jsq"]
seeds = [0, 1]
[trace]
source = "azure-2023-conv-like"
requests = 15
arrivals = "poisson-by-period"
rate = 0.4
[cluster]
workers = 2
slots = 3
kv_tokens = 12000
[options]
periods = 120
sample = 2
[grid]
weights.zeta2 = [0, 4]
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> Path:
    """Folder of a study with series, a grid of two numbers, and its report."""
    folder = tmp_path_factory.mktemp("report")
    run_study(read_study(write(folder / "grid.toml", GRID)), folder / "out", jobs=1)
    study_report(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def prices(tmp_path_factory) -> Path:
    """Folder of a study of prices and its report; one policy's name would break a careless page."""
    folder = tmp_path_factory.mktemp("prices")
    text = PRICES.replace('"<b>&jsq"', '{ name = "<b>&jsq", policy = "jsq" }')
    run_study(read_study(write(folder / "prices.toml", text)), folder / "out", jobs=1)
    study_report(folder / "out")
    return folder / "out"


def test_missing_values_are_not_counted():
    frame = pd.DataFrame({"policy": ["a"] * 3, "x": [1.0, None, 3.0]})
    (row,) = summarise(frame, ["policy"], ["x"], 0.9).to_dict("records")
    assert (row["seeds"], row["mean"]) == (2, 2.0)


def test_the_front_minimises_imbalance_and_maximises_throughput():
    """By hand: b beats a in both; c has the least imbalance."""
    names = ("mean_imbalance_tokens", "throughput_tokens_per_s")
    rows = [("a", 9.0, 1.0), ("b", 5.0, 2.0), ("c", 4.0, 1.5)]
    points = front(pd.DataFrame(rows, columns=["policy", *names]), ["policy"], names)
    assert points.non_dominated.tolist() == [False, True, True]


def test_ratios_are_over_the_best_policy_of_the_same_grid_point_and_seed(reported):
    results = Results.read(reported)
    ratios = performance_ratios(results, "mean_imbalance_tokens")
    assert ratios.shape == (4, 2)  # 4 grid points, 2 policies; seeds are no instances
    assert (ratios.min(axis=1) == 1).all()
    frame = results.frame(CELLS)
    first = frame[(frame.r_max == 2) & (frame.s_greedy == 0)]
    values = first.groupby("policy").mean_imbalance_tokens.mean()
    expected = values / values.min()
    assert ratios.iloc[0].to_dict() == pytest.approx(expected.to_dict())


def test_tables_hold_means_and_half_widths_in_three_formats(reported):
    study = Results.read(reported).study
    frame = pd.read_csv(reported / "tables" / "cells.csv")
    summary = pd.read_csv(reported / "report" / "summary.csv")
    assert len(summary) == 8 * summary.metric.nunique()
    for row in summary[summary.metric == "energy_j"].itertuples():
        cells = frame[(frame.policy == row.policy) & (frame.r_max == row.r_max)]
        values = cells[cells.s_greedy == row.s_greedy].energy_j
        assert len(values) == row.seeds == len(study.seeds)
        assert row.mean == pytest.approx(values.mean())
        assert row.high - row.mean == pytest.approx(12.7062 * values.sem(), rel=1e-4)
    markdown = (reported / "report" / "summary.md").read_text(encoding="utf-8")
    assert "interval over seeds (Student's t), which draw requests, and ties" in markdown
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 8
    assert len({line.count("|") for line in lines}) == 1
    latex = (reported / "report" / "summary.tex").read_text(encoding="utf-8")
    assert latex.count(r"\\") == 1 + 8
    assert r"$\pm$" in latex
    assert "_" not in latex


def test_formats_escape_what_names_may_hold():
    table = pd.DataFrame({"policy": ["a|b_c%"], "x": ["1 ± 2"]})
    assert r"a\|b_c%" in to_markdown(table, "t", "n")
    latex = to_latex(table, "50%", "n")
    assert r"a\textbar{}b\_c\%" in latex
    assert r"50\%" in latex


def test_digits_follow_the_width_of_the_interval():
    rows = [("a", "x", 2, 1234.5678, 1234.4, 1234.71), ("a", "y", 1, 0.25, None, None)]
    columns = ["policy", "metric", "seeds", "mean", "low", "high"]
    (row,) = wide(pd.DataFrame(rows, columns=columns), ["policy"]).to_dict("records")
    assert row == {"policy": "a", "seeds": "2", "x": "1,234.568 ± 0.142", "y": "0.250"}


def test_the_figures_that_apply_are_drawn_and_no_others(reported, prices):
    def drawn(folder: Path) -> set[str]:
        return {path.stem for path in (folder / "report").glob("*.svg")}

    assert drawn(reported) == {
        "loads",
        "imbalance",
        "response_r_max",
        "response_s_greedy",
        "heat_map",
        "pareto",
        "performance_profile",
    }
    assert drawn(prices) == {
        "response_weights_zeta2",
        "performance_profile",
        "prices",
        "convergence",
    }


def test_a_front_compares_choices_and_not_different_traces(tmp_path):
    text = SMALL.replace("requests = 40", "") + (
        'requests = [20, 40]\n[outputs]\npareto = ["energy_j", "tpot_mean_s"]\n'
    )
    run_study(read_study(write(tmp_path / "s.toml", text)), tmp_path / "out", jobs=1)
    study_report(tmp_path / "out")
    points = pd.read_csv(tmp_path / "out" / "report" / "pareto.csv")
    assert len(points) == 6  # 2 policies x 3 values of r_max
    assert set(points.requests) == {20}


def test_satisfaction_is_drawn_against_zeta2(prices):
    from olprouting.studies.figures import drawings

    found = {d.name: d for d in drawings(Results.read(prices), ["reward"])}
    axes = found["response_weights_zeta2"].figure.axes
    assert axes[0].get_ylabel() == "satisfaction"
    assert axes[0].lines[0].get_xdata().tolist() == [0, 4]


def test_gap_distributions_of_a_study_of_gaps(tmp_path):
    text = SMALL.replace('"simulate"', '"gaps"') + "\n[options]\ndecisions = 2\n"
    run_study(read_study(write(tmp_path / "gaps.toml", text)), tmp_path / "out", jobs=1)
    report = study_report(tmp_path / "out")
    assert tmp_path / "out" / "report" / "gaps.svg" in report.files
    assert {"found_mean_tokens", "share_optimal"} <= set(report.summary.metric)
    timing = pd.read_csv(tmp_path / "out" / "report" / "timing.csv")
    assert {"dispatch_p50_s", "solve_p99_s"} <= set(timing.metric)


class Page(HTMLParser):
    """What a browser would fetch, and the elements of the page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "action", "data", "poster", "background"):
                self.outside.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(params=["reported", "prices"])
def page(request) -> Path:
    return request.getfixturevalue(request.param) / "report" / "report.html"


def test_the_page_refers_to_nothing_outside_itself(page):
    found = Page(page)
    assert not found.outside
    assert not {"script", "link", "iframe", "object", "embed", "base"} & set(found.tags)
    text = page.read_text(encoding="utf-8")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_the_page_holds_every_figure_and_table(page):
    found = Page(page)
    assert found.tags.count("figure") == len(list(page.parent.glob("*.svg"))) > 0
    assert found.tags.count("table") == 2
    assert "Student's t" in found.text
    assert "cells finished" in found.text


def test_names_are_text_on_the_page_and_not_markup(prices):
    found = Page(prices / "report" / "report.html")
    assert "b" not in found.tags
    assert "<b>&jsq" in found.text


def test_a_report_needs_neither_the_trace_nor_the_policies_any_more(policy_study, tmp_path):
    trace = write(tmp_path / "own.csv", "prompt_tokens,decode_tokens\n5,3\n7,2\n")
    file = policy_study("fill")
    file.write_text(file.read_text().replace('"ratio:1:1:20"', '"own.csv"'))
    run_study(read_study(file), tmp_path / "out", jobs=1)
    expected = study_report(tmp_path / "out").summary
    trace.unlink()
    (tmp_path / "policies.py").unlink()
    file.unlink()
    pd.testing.assert_frame_equal(study_report(tmp_path / "out").summary, expected)


def test_failures_are_on_the_page(policy_study, tmp_path):
    file = policy_study("breaks", seeds=1, workers="[2, 3]")
    run_study(read_study(file), tmp_path / "out", jobs=1)
    found = Page(study_report(tmp_path / "out").files[-1])
    assert "three workers are too many" in found.text
    assert '"workers": 3' in found.text


def test_a_study_without_finished_cells_has_no_report(policy_study, tmp_path):
    run_study(read_study(policy_study("breaks", workers="[3]")), tmp_path / "out", jobs=1)
    with pytest.raises(InputError, match="no cell of 'study' is finished yet"):
        study_report(tmp_path / "out")


@needs_browser
def test_the_page_shows_its_figures_in_a_browser(reported, tmp_path):
    """Catches pictures that a browser does not draw, although the page parses."""
    page = (reported / "report" / "report.html").read_text(encoding="utf-8")
    ask = "[...document.querySelectorAll('figure svg')].map(i => i.getBoundingClientRect().height)"
    heights = asked(page, ask, tmp_path)
    assert len(heights) == 7
    assert min(heights) > 100
