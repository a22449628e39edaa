"""Routers that people run and their best weights, at a small size: what the page relies on."""

from __future__ import annotations

from experiment_scripts import load_script


def test_weights_are_chosen_on_other_draws_than_they_are_measured_on(monkeypatch):
    """Catches best weights that are best because they were picked on the same requests."""
    script = load_script("routers")
    chosen_on, measured_on = set(), set()

    def run(setting, trace, policy, seed):
        (chosen_on if policy.name == "tried" else measured_on).add(trace)
        return {"imbalance_tokens": float(policy.parameters.load_weights is None)}

    monkeypatch.setattr(script, "run_on_arrival", run)
    rows = list(script.rows(next(script.settings("30002 means")), lambda _, seed: seed, 3))
    assert chosen_on == {0, 1, 2}
    assert measured_on == {3, 4, 5}
    assert {row["policy"] for row in rows} == {
        *script.BESIDE,
        *script.ROUTERS,
        *(f"best: {form}" for form in script.FORMS),
    }


def test_the_forms_hold_the_weights_of_the_routers(monkeypatch):
    """Catches a grid in which "best" leaves out what is run, so that it could be worse."""
    script = load_script("routers")
    grids = list(script.FORMS.values())
    for name, grid in zip(("vllm", "dynamo", "llm-d"), grids, strict=False):
        weights = script.policy_of(name, next(script.settings("30002 means")))
        terms = weights.parameters.load_weights
        scale = next(w for w in (terms.running_requests, terms.running_tokens) if w)
        scaled = tuple(w / scale for w in terms[:4])
        assert any(tuple(map(float, known[:4])) == scaled for known in grid), name
