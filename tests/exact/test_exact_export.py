"""LP and MPS files: readable names, and the same optimum when read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import highspy
import pytest

from olprouting.errors import InputError
from olprouting.exact import export
from olprouting.instances import Decision

if TYPE_CHECKING:
    from pathlib import Path


def read_back(path: Path) -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    return solver


@pytest.mark.parametrize("suffix", ["lp", "mps"])
@pytest.mark.parametrize(
    ("formulation", "names"),
    [
        ("size-class", {"admit_s5_w2", "admit_s3_w0", "peak_h0", "added_tokens_w1"}),
        ("assignment", {"place_r2_w1", "place_r0_w0", "peak_h0"}),
    ],
)
def test_e2_reads_back_to_its_optimum(
    e2: Decision, tmp_path: Path, suffix: str, formulation: str, names: set[str]
) -> None:
    # the constant of the objective and the sense are what gets lost between formats
    path = tmp_path / f"a folder.{suffix}"
    export(e2, path, formulation)
    solver = read_back(path)
    assert solver.getInfo().objective_function_value == pytest.approx(1)
    assert names <= set(solver.getLp().col_names_)
    assert {"slots_w2", "barrier_w1_h0", "admissions"} <= set(solver.getLp().row_names_)


def test_a_window_with_discount_reads_back(tmp_path: Path) -> None:
    decision = Decision([[0, 5, 5], [4, 0, 0]], [1, 1], [6, 2.5], gamma=0.5)
    for suffix in ("lp", "mps"):
        export(decision, tmp_path / f"w.{suffix}")
        solver = read_back(tmp_path / f"w.{suffix}")
        # 6 to worker 0, 2.5 to 1: 0.5 apart, then |12 - 3.5| / 2 and |13 - 4.5| / 4; the other
        # way 7.5 apart, then |8.5 - 7| / 2 and |9.5 - 8| / 4
        best = min(0.5 + 8.5 / 2 + 8.5 / 4, 7.5 + 1.5 / 2 + 1.5 / 4)
        assert solver.getInfo().objective_function_value == pytest.approx(best)


def test_an_unknown_suffix_is_refused(e2: Decision, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the suffix must be one of \.lp, \.mps"):
        export(e2, tmp_path / "e2.nl")


def test_a_missing_folder_is_named(e2: Decision, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        export(e2, tmp_path / "nowhere" / "e2.lp")
