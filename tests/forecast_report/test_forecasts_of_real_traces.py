"""Forecasters on real traces: what is known of these traces must show."""

from __future__ import annotations

import pytest

from olprouting.forecast_report import evaluate_forecasts
from olprouting.forecasts.learned import TrainingOptions, train_learned
from olprouting.traces import read_trace


@pytest.fixture(scope="module")
def azure(shared_data):
    return read_trace(shared_data / "azure_2023_conv.csv").head(8000)


def test_prompts_tell_more_than_ages_alone_on_azure(azure) -> None:
    """Decode lengths of this trace depend on prompts: forecasts that look at them do better.

    Catches features that reach the wrong requests; Survival knows nothing but the age.
    """
    learned = train_learned(azure.head(4000), 80, options=TrainingOptions(trees=60))
    report = evaluate_forecasts(azure, ["survival", "exact-match", learned], sample=10_000)
    survival, exact_match, trees = report.forecasts
    assert exact_match.auc > survival.auc + 0.05
    assert trees.auc > survival.auc + 0.05
    assert trees.mae_finisher_tokens < survival.mae_finisher_tokens


def test_few_conversations_recur_on_mooncake(shared_data) -> None:
    """Its keys are conversations: most of the later ones have no history of their own."""
    mooncake = read_trace(shared_data / "mooncake_conversation.jsonl")
    report = evaluate_forecasts(mooncake, ["survival", "exact-match"], sample=10_000)
    survival, exact_match = report.forecasts
    assert survival.covered_share == 1
    assert 0 < exact_match.covered_share < 0.5
