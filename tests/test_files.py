"""Parts of results on disk: each in its format, floats to the last digit."""

from __future__ import annotations

import pandas as pd

from olprouting.files import drawn, write_parts
from olprouting.plots.axes import axes_or_new


def test_each_part_is_written_in_its_format_into_a_new_folder(tmp_path) -> None:
    folder = tmp_path / "new" / "folder"
    frame = pd.DataFrame({"share": [1 / 3, 0.1], "tokens": [2**53, 1]}, index=[5, 6])
    axes = axes_or_new(None)
    parts = {
        "a.csv": frame,
        "a.parquet": frame,
        "b.json": "{}",
        "c.png": drawn(lambda: axes),
        "d.png": drawn(lambda: axes.figure),
    }
    assert write_parts(folder, parts) == tuple(folder / name for name in parts)
    assert {path.name for path in folder.iterdir()} == set(parts)
    digits = "share,tokens\n0.3333333333333333,9007199254740992\n0.1,1\n"
    assert (folder / "a.csv").read_text() == digits
    read = pd.read_parquet(folder / "a.parquet")
    pd.testing.assert_frame_equal(read, frame.reset_index(drop=True), check_exact=True)
    assert (folder / "b.json").read_text() == "{}"
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in ("c.png", "d.png"))
