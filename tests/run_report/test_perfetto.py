"""A run as a Perfetto trace: stays, times and counters are those of the run."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from command_line import olprouting as command

import olprouting as olp
from olprouting.errors import InputError
from olprouting.run_report import to_perfetto

TRACE = olp.Trace([5, 3, 6, 2], [2, 4, 1, 3], release_iteration=[1, 1, 1, 2])
CLUSTER = olp.Cluster.homogeneous(2, 1)


@pytest.fixture(scope="module")
def run():
    return olp.simulate(TRACE, CLUSTER, olp.make_policy("round-robin", 2), series_every=1)


@pytest.fixture(scope="module")
def events(run):
    return json.loads(to_perfetto(run))["traceEvents"]


def test_every_request_stays_from_its_admission_to_its_last_token(run, events):
    """Catches iterations that are off by one, and seconds taken for microseconds."""
    stays = {event["name"]: event for event in events if event["ph"] == "X"}
    assert len(stays) == len(TRACE)
    starts = run.series_frame().set_index("iteration").start_s
    for request in range(len(TRACE)):
        stay = stays[f"request {request}"]
        assert stay["pid"] == run.worker[request]
        assert stay["ts"] == pytest.approx(1e6 * starts[run.admission_iteration[request]])
        assert stay["ts"] + stay["dur"] == pytest.approx(1e6 * run.finish_s[request])


def test_a_slot_holds_one_request_at_a_time(events):
    stays = [event for event in events if event["ph"] == "X"]
    for process in {event["pid"] for event in stays}:
        mine = sorted((e["ts"], e["ts"] + e["dur"]) for e in stays if e["pid"] == process)
        assert all(end <= start + 1e-6 for (_, end), (start, _) in pairwise(mine))


def test_counters_are_the_series(run, events):
    series = run.series_frame()
    for worker in range(2):
        counted = [
            event["args"]["tokens"]
            for event in events
            if event["name"] == "load_tokens" and event["pid"] == worker
        ]
        assert counted == series[f"load_tokens_{worker}"].tolist()


def test_a_run_that_cannot_be_shown_is_refused(tmp_path):
    """Catches a gap in the series that would be drawn as one long stay."""
    sparse = olp.simulate(TRACE, CLUSTER, olp.make_policy("jsq", 2), series_every=2)
    with pytest.raises(InputError, match="every iteration"):
        to_perfetto(sparse)
    file = tmp_path / "run.json"
    options = ["simulate", "--requests", "20", "--workers", "2", "--slots", "4", "--policy", "jsq"]
    refused = command(*options, "--perfetto", str(file), "--clock", "independent")
    assert refused.returncode == 2
    assert "barrier clock" in refused.stderr
    assert command(*options, "--perfetto", str(file)).returncode == 0
    assert json.loads(file.read_text())["displayTimeUnit"] == "ms"
