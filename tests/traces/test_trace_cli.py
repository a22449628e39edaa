"""`olprouting traces`, its summaries, and the cost of importing."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from trace_files import azure, write
from typer.testing import CliRunner

from olprouting.cli.traces import traces_app
from olprouting.errors import InputError
from olprouting.instances import Trace
from olprouting.traces import PUBLIC_TRACES, read_trace, summarise


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command with an empty user cache; InputError comes through, as main() expects it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: object) -> str:
        return (
            CliRunner()
            .invoke(traces_app, [str(a) for a in arguments], catch_exceptions=False)
            .stdout
        )

    return run


def test_info_shows_lengths_arrivals_and_notices(run, tmp_path) -> None:
    shown = run("info", azure(tmp_path / "a.csv"))
    assert "requests" in shown
    assert "azure" in shown
    assert "times rebased" in shown
    assert "prompt_tokens" in shown


def test_a_name_with_brackets_is_shown_as_it_is(run, tmp_path) -> None:
    """Catches a file name that is taken for markup and vanishes."""
    assert "[red]a.csv" in run("info", azure(tmp_path / "[red]a.csv"))


def test_info_as_json_has_the_numbers(run, tmp_path) -> None:
    """Five requests in 10 s, one of them at the time of the one before."""
    shown = json.loads(run("info", azure(tmp_path / "a.csv"), "--json"))
    assert shown["requests"] == 5
    assert shown["source"]["format"] == "azure"
    assert len(shown["source"]["sha256"]) == 64
    assert shown["arrivals"]["span_s"] == 10
    assert shown["arrivals"]["rate_per_s"] == 0.4
    assert shown["arrivals"]["tie_share"] == 0.2
    # Four arrivals in the first two tenths of 10 s, one in the last.
    assert shown["arrivals"]["rate_profile_per_s"] == [3, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert shown["prompt_tokens"]["mean"] == pytest.approx((374 + 396 + 879 + 91 + 91) / 5)
    assert shown["prompt_tokens"]["quantiles"][-1] == 879


def test_info_draws_a_profile_and_takes_reading_options_for_files_only(run) -> None:
    assert json.loads(run("info", "burstgpt-like", "--json"))["source"] is None
    with pytest.raises(InputError, match="reading options apply to files only"):
        run("info", "burstgpt-like", "--start-s", "5")


def test_info_passes_the_reading_options_on(run, tmp_path) -> None:
    path = write(tmp_path / "g.csv", "timestamp,input_tokens,output_tokens", "5,1,0", "3005,1,1")
    options = ("--time-unit", "ms", "--zero-output", "keep", "--start-s", "2", "--duration-s", "2")
    shown = json.loads(run("info", path, "--json", "--format", "generic", *options))
    assert shown["requests"] == 1


def test_a_summary_of_simultaneous_arrivals_has_no_rate() -> None:
    """Catches a division by a span of 0."""
    arrivals = summarise(Trace([1, 2], [1, 1], arrival_s=[0, 0])).arrivals
    assert (arrivals.span_s, arrivals.rate_per_s, arrivals.rate_profile_per_s) == (0, None, ())


def test_convert_filters_replaces_arrivals_and_repeats_with_the_seed(run, tmp_path) -> None:
    path = azure(tmp_path / "a.csv")
    options = ("--poisson", "5", "--seed", "3", "--max-prompt-tokens", "500", "--oversize", "drop")
    shown = run("convert", path, tmp_path / "one.csv", *options)
    assert "1 of 5 dropped: prompt_tokens > 500" in shown
    assert "poisson at 5/s" in shown
    run("convert", path, tmp_path / "two.csv", *options)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert read_trace(tmp_path / "one.csv").prompt_tokens.tolist() == [374, 396, 91, 91]


def test_convert_spreads_batches_and_drops_short_outputs(run, tmp_path) -> None:
    out = tmp_path / "o.parquet"
    path = azure(tmp_path / "a.csv")
    run("convert", path, out, "--spread-batches", "--min-decode-tokens", "17")
    trace = read_trace(out)
    assert trace.decode_tokens.min() == 17
    assert (np.diff(trace.arrival_s) > 0).all()


def test_convert_refuses_its_target_before_it_reads(run, tmp_path) -> None:
    """The source does not exist either: the complaint must be about the target."""
    with pytest.raises(InputError, match="there is no folder"):
        run("convert", tmp_path / "none.csv", tmp_path / "nowhere" / "o.csv")


def test_list_names_every_trace_with_its_licence(run) -> None:
    rows = json.loads(run("list", "--json"))
    assert {row["name"] for row in rows} >= {*PUBLIC_TRACES, "burstgpt-like"}
    assert all(row["licence"] for row in rows)
    assert not any(row["here"] for row in rows if row["kind"] == "public")
    assert "azure-2023-conv-like" in run("list")


def test_fetch_gives_the_path_of_a_trace_already_there(run, tmp_path, shared_data) -> None:
    cache = tmp_path / "cache" / "olprouting" / "traces"
    cache.mkdir(parents=True)
    (cache / "azure-2023-conv.csv").write_bytes((shared_data / "azure_2023_conv.csv").read_bytes())
    assert run("fetch", "azure-2023-conv").strip() == str(cache / "azure-2023-conv.csv")


def test_importing_the_commands_loads_nothing_heavy() -> None:
    """Catches a module-level import that would make every --help slow."""
    heavy = ("numpy", "pandas", "pyarrow", "pooch", "scipy")
    code = (
        "import sys, olprouting.cli.traces, olprouting.traces; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    """Catches a name that is announced but not where the lazy table says."""
    import olprouting.traces

    assert {hasattr(olprouting.traces, name) for name in olprouting.traces.__all__} == {True}
    assert not hasattr(olprouting.traces, "read_tracce")
