"""Reading speed. Nothing is asserted on time."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.traces import read_trace

ROWS = 100_000


@pytest.fixture(scope="module")
def azure_like(tmp_path_factory):
    rng = np.random.default_rng(1)
    times = np.datetime64("2024-05-10T00:00:00", "us") + np.cumsum(rng.integers(0, 10**5, ROWS))
    tokens = rng.integers(1, 5000, (2, ROWS))
    path = tmp_path_factory.mktemp("bench") / "azure.csv"
    with path.open("w") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        file.writelines(
            f"{time}+00:00,{prompt},{decode}\n"
            for time, prompt, decode in zip(times, *tokens, strict=True)
        )
    return path


def test_read_an_azure_like_csv(benchmark, azure_like) -> None:
    assert len(benchmark(read_trace, azure_like)) == ROWS


def test_read_the_real_conversation_trace(benchmark, shared_data) -> None:
    assert len(benchmark(read_trace, shared_data / "azure_2023_conv.csv")) == 19_366


def test_read_mooncake_json_lines(benchmark, shared_data) -> None:
    assert len(benchmark(read_trace, shared_data / "mooncake_conversation.jsonl")) == 12_031
