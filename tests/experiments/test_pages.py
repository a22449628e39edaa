"""Pages of experiments/: what is committed is what the results say."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import EXPERIMENTS, load_script

from olprouting.studies import read_study


@pytest.fixture(scope="module")
def pages():
    return load_script("pages")


def test_committed_pages_are_what_the_results_lead_to(pages):
    """A number changed in a page, a template or a result fails; so does a page of no template."""
    assert [page.name for page in pages.disagreeing()] == []


def test_the_index_links_to_every_page(pages):
    texts = pages.pages()
    index = next(text for page, text in texts.items() if page.name == "README.md")
    for page in texts:
        assert page.name == "README.md" or f"(pages/{page.name})" in index


def test_a_sentence_that_the_numbers_contradict_is_not_written(pages, tmp_path, monkeypatch):
    """A claim that always passes would let the text of an older result stand."""
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "page.md.j2").write_text("{{ claim(one(results('t'), 'x', policy='a') > 1) }}More.")
    monkeypatch.setattr(pages, "TEMPLATES", folder)
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    pd.DataFrame({"policy": ["a"], "x": [2]}).to_csv(tmp_path / "t.csv", index=False)
    assert list(pages.pages().values()) == ["More."]
    pd.DataFrame({"policy": ["a"], "x": [1]}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(pages.DisagreementError):
        pages.pages()


def test_savings_are_paired_by_seed(pages):
    """Halves of very different loads: every seed saves 50%, so that nothing is left to chance.

    Means over seeds would have an interval as wide as the loads are apart.
    """
    frame = pd.DataFrame(
        {"policy": ["a", "b"] * 3, "seed": [0, 0, 1, 1, 2, 2], "x": [1, 2, 10, 20, 100, 200]}
    )
    saving = pages.saved(frame, "x", {"policy": "a"}, {"policy": "b"})
    assert (saving.mean, saving.low, saving.high) == pytest.approx((50, 50, 50))
    with pytest.raises(pages.DisagreementError, match="more than one point"):
        pages.by_seed(pd.concat([frame, frame]), "x", policy="a")


def test_the_window_goes_from_full_slots_to_the_last_admission():
    """Slots are full in iterations 2 to 4 of six; the last admission is in the fourth.

    The mean is that of 20, 30 and 40: neither the 10 of filling nor the 1,000 of draining count.
    """
    series = pd.DataFrame(
        {
            "admitted_requests": [2, 1, 0, 1, 0, 0],
            "active_requests": [2, 3, 2, 3, 3, 1],
            "imbalance_tokens": [10, 20, 30, 40, 1000, 1000],
        }
    )
    waiting_mean = load_script("lookahead").waiting_mean
    assert waiting_mean(series, slots=3) == 30
    assert pd.isna(waiting_mean(series, slots=4))


def test_the_lookahead_study_varies_five_parameters_around_the_published_point():

    grid = read_study(EXPERIMENTS / "lookahead.toml").grid
    published = {"r_max": 4, "s_greedy": 7, "beta": 43, "gamma": 0.86, "horizon": 80}
    assert set(grid) == set(published)
    for name, value in published.items():
        assert value in grid[name]
        assert len(grid[name]) > 1
