"""Studies on a real Dask cluster: same bytes, even if a worker is killed in mid-run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from study_files import tables

from olprouting.errors import InputError
from olprouting.studies import read_study, run_study
from olprouting.studies.dask_cluster import ANSWER_WITHIN_S

if TYPE_CHECKING:
    from collections.abc import Iterator

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Address of a cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_tables_have_the_same_bytes_as_those_of_one_process(small, scheduler, tmp_path):
    study = read_study(small)
    run_study(study, tmp_path / "one", jobs=1)
    assert run_study(study, tmp_path / "dask", dask=scheduler).complete
    assert tables(tmp_path / "dask") == tables(tmp_path / "one")


@pytest.mark.skipif(sys.platform == "win32", reason="kills with a signal of POSIX")
def test_a_worker_killed_in_mid_run_costs_nothing_but_time(policy_study, scheduler, tmp_path):
    study = read_study(policy_study("kills_once", seeds=6))
    status = run_study(study, tmp_path / "dask", dask=scheduler)
    assert (tmp_path / "killed").exists()
    assert status.complete
    assert not status.failures
    run_study(study, tmp_path / "one", jobs=1)  # the policy kills nobody any more
    assert tables(tmp_path / "dask") == tables(tmp_path / "one")


def test_a_broken_cell_is_named_and_the_others_finish(policy_study, scheduler, tmp_path):
    study = read_study(policy_study("breaks", seeds=1, workers="[1, 2, 3]"))
    status = run_study(study, tmp_path / "dask", dask=scheduler)
    assert status.finished == 2
    assert "ZeroDivisionError: three workers are too many" in status.failures[0]["error"]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_an_address_that_does_not_answer_is_refused_within_ten_seconds(small, tmp_path, address):
    assert ANSWER_WITHIN_S < 10
    with pytest.raises(InputError, match=f"--dask {address}: no scheduler answers"):
        run_study(read_study(small), tmp_path / "out", dask=address)
