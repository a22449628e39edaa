"""One run as a report: what it says, what it draws, and that no metric is lost."""

from __future__ import annotations

import json

import numpy as np
import pytest
from browser import asked, needs_browser

import olprouting as olp
from olprouting.run_report import RunReport
from olprouting.run_report.residents import slots_of


def run(policy="jsq", clock="barrier", **options):
    rng = np.random.default_rng(0)
    trace = olp.Trace(prompt_tokens=rng.integers(1, 50, 30), decode_tokens=rng.integers(1, 9, 30))
    cluster = olp.Cluster([3, 2])
    options = {"backlog": 30, "clock": clock} | options
    return olp.simulate(trace, cluster, olp.make_policy(policy, workers=2), **options)


@pytest.fixture(scope="module")
def report():
    return RunReport(result=run(series_every=1), settings={"seed": 0})


def test_every_metric_is_in_the_document(report):
    """Catches a number that only the tables show, or neither."""
    document = json.loads(json.dumps(report.to_document()))
    for name, value in report.result.metrics.to_row().items():
        assert document[name] == value
    assert document["policy"] == "jsq"
    assert document["schema"] == "olprouting/run/1"


def test_queues_of_workers_have_a_table_where_there_are_any(report):
    """Catches a split of waiting that nobody sees, or one of a central queue."""
    title = "Dispatch on arrival, seconds per request"
    assert title not in [table.title for table in report.tables()]
    result = run(backlog=None, in_flight=9, dispatch="arrival")
    (table,) = (one for one in RunReport(result=result).tables() if one.title == title)
    after = result.metrics.queues.after_dispatch
    assert table.columns["mean"] == ["0.000", f"{after.mean_s:.3f}"]
    assert after.mean_s > 0


def test_tables_say_what_the_metrics_say(report):
    """Catches a cell under the wrong heading: the mean in the column of the median."""
    waiting = next(table for table in report.tables() if table.title.startswith("Waiting, sec"))
    first = report.result.metrics.ttft
    shown = [cells[1] for cells in waiting.columns.values()]
    assert shown == [
        f"{x:.3f}" for x in (first.mean_s, first.p50_s, first.p95_s, first.p99_s, first.max_s)
    ]
    assert list(waiting.labels[""])[:2] == ["for a slot", "to the first token"]
    requests = next(table for table in report.tables() if table.title == "Requests")
    assert list(requests.columns["value"]) == ["30", "30", "0", "0"]


def test_a_run_without_a_barrier_says_nothing_of_one():
    """Catches a mean imbalance of None in a table, and a Gantt over nobody's iterations."""
    report = RunReport(result=run(clock="independent", series_every=1))
    assert not any("Imbalance" in table.title for table in report.tables())
    assert not any("barrier" in finding for finding in report.findings())
    assert list(report.figures()) == ["loads"]
    assert report.to_html()


def test_unfinished_requests_are_a_warning():
    """Catches latencies of a run that was cut short, which leave out the slowest requests."""
    report = RunReport(result=run(max_iterations=4))
    never, unfinished = report.warnings()
    left = report.result.metrics.unfinished
    assert f"{left} of 30 requests are unfinished" in unfinished
    assert never == f"{(report.result.worker < 0).sum()} of 30 requests were never admitted"
    assert not report.figures()  # it kept no series


def test_stays_fill_a_workers_slots_and_never_overlap(report):
    """Catches two requests in one slot, and a slot that the worker does not have."""
    for worker, slots in enumerate(report.result.cluster.slots.tolist()):
        stays = slots_of(report.result, worker)
        assert set(stays.slot) == set(range(slots))
        assert len(stays) == (report.result.worker == worker).sum()
        for _, group in stays.groupby("slot"):
            assert (group.from_iteration.to_numpy()[1:] > group.to_iteration.to_numpy()[:-1]).all()


def test_stays_of_a_run_by_hand():
    """One worker of one slot: two requests of 2 and 3 tokens stay 1-2 and 3-5."""
    trace = olp.Trace(prompt_tokens=[5, 7], decode_tokens=[2, 3])
    result = olp.simulate(trace, olp.Cluster([1]), olp.make_policy("jsq", workers=1), backlog=2)
    stays = slots_of(result, 0)
    assert stays[["from_iteration", "to_iteration"]].to_numpy().tolist() == [[1, 2], [3, 5]]
    assert stays["tokens"].tolist() == [7, 10]


def test_nothing_is_drawn_of_a_run_that_never_began():
    """Catches a maximum of no loads, after Ctrl-C at once."""
    report = RunReport(result=run(max_iterations=0, series_every=1))
    assert report.figures() == report.charts() == {}
    assert report.to_html()


@needs_browser
def test_the_slider_moves_the_loads(report, tmp_path):
    """Catches frames that the chart does not know, so that the slider does nothing."""
    iterations = report.result.metrics.iterations
    asks = (
        "(() => { const plot = document.querySelector('.plot');"
        " return [plot._transitionData._frames.length, plot.layout.sliders[0].steps.length,"
        " plot.data.map(one => one.name)]; })()"
    )
    ready = "document.querySelectorAll('.plot .slider-group').length > 0"
    frames, steps, names = asked(report.to_html(), asks, tmp_path, ready=ready)
    assert frames == steps == iterations
    assert names == ["load", "barrier", "waiting"]
