"""The fields of every document that `verify` reads.

They are those that were written; what is not named here is refused, so that nothing stands in a
file that is neither checked nor listed as unchecked.
"""

from __future__ import annotations

from typing import Any

from olprouting.certificates.fields import (
    either,
    fields,
    flag,
    fraction,
    list_of,
    name,
    names_to,
    number,
    one_of,
    optional,
    quotient,
    row,
    text,
    whole,
)
from olprouting.instances import StopReason

_STOP = one_of(*StopReason)
_STATUS = one_of(*StopReason, "limit_no_solution")
_NUMBERS, _WHOLE = list_of(number), list_of(whole)
_PAIRS = list_of(row(whole, whole))
_SHARES = list_of(row(whole, whole, fraction))
_HOW = {
    "wall_s": number,
    "build_s": number,
    "limit_s": optional(number),
    "threads": whole,
    "seed": whole,
    "message": text,
}
_WEIGHTS = fields(dict.fromkeys(("alpha", "beta", "gamma", "sigma", "zeta1", "zeta2"), number))
_VERSIONS = names_to(text)
_KERNEL = one_of("decode", "mixed")

DECISION = fields(
    {
        "schema": text,
        "horizon": whole,
        "gamma": either(number, quotient),
        "growth": one_of("growing", "frozen"),
        "workers": list_of(fields({"projected_load_tokens": _NUMBERS, "free_slots": whole})),
        "waiting_prompt_tokens": _NUMBERS,
    }
)

DECISION_RESULT = fields(
    {
        "schema": text,
        "solver": name,
        "formulation": name,
        "stop_reason": _STOP,
        "status": _STATUS,
        "assignment": optional(_PAIRS),
        "objective": optional(number),
        "bound": optional(number),
        "absolute_gap": optional(number),
        "relative_gap": optional(number),
        "warm_start": optional(text),
        **_HOW,
    }
)

_PROOFS = {
    "zero": {},
    "level": {},
    "enumeration": {},
    "peaks": {"shares": _SHARES},
    "search": {"order": _WHOLE, "bounds": list_of(_SHARES)},
}


def proof(value: Any) -> None:
    """Check the proof of a decision: what it needs depends on its kind."""
    names_to(lambda _: None)(value)
    kind = value.get("kind")
    one_of(*_PROOFS)(kind)
    more = {"slot_prices": list_of(fraction)} if kind == "peaks" else {}
    fields({"kind": text, "bound": fraction, **_PROOFS[kind]}, more)(value)


CHOICE = fields(
    {
        "policy": name,
        "iteration": whole,
        "assignment": _PAIRS,
        "value_tokens": number,
        "gap_tokens": number,
    }
)

PERIOD = fields(
    {
        "schema": text,
        "period": whole,
        "periods": whole,
        "kernel": _KERNEL,
        "weights": _WEIGHTS,
        "t1": number,
        "t2": number,
        "devices": list_of(fields({"slots": _WHOLE, "kv_tokens": _WHOLE})),
        "requests": list_of(
            fields(dict.fromkeys(("prompt_tokens", "decode_tokens", "arrival_period"), whole))
        ),
    },
    {"inclusive": flag, "age_offset": whole, "clipped": whole},
)

PERIOD_RESULT = fields(
    {
        "schema": text,
        "solver": name,
        "form": one_of("lp", "dual", "reduced-dual", "integer"),
        "period": whole,
        "stop_reason": _STOP,
        "status": _STATUS,
        "value": optional(number),
        "bound": optional(number),
        "relative_gap": optional(number),
        "x": optional(list_of(_NUMBERS)),
        "priced": optional(
            fields(
                {
                    "batch": list_of(_NUMBERS),
                    "memory": list_of(_NUMBERS),
                    "option_values": _NUMBERS,
                    "source": name,
                    "unique": optional(flag),
                }
            )
        ),
        "oversize": _WHOLE,
        "clipped": whole,
        "rows": whole,
        "rows_in_full": whole,
        **_HOW,
    }
)

CERTIFICATE_OF_DECISION = fields(
    {
        "schema": text,
        "instance_sha256": text,
        "instance": DECISION,
        "result": DECISION_RESULT,
        "proof": proof,
    },
    {"choice": CHOICE},
)

CERTIFICATE_OF_PERIOD = fields(
    {"schema": text, "instance_sha256": text, "instance": PERIOD, "result": PERIOD_RESULT}
)

HINDSIGHT_PROBLEM = fields(
    {
        **dict.fromkeys(
            ("prompt_tokens", "decode_tokens", "arrival_period", "slots", "kv_tokens"), _WHOLE
        ),
        "weights": _WEIGHTS,
        "periods": whole,
        "t1": number,
        "t2": number,
        "kernel": _KERNEL,
        "age_offset": whole,
        "inclusive": flag,
    }
)

HINDSIGHT = fields(
    {
        "schema": text,
        "name": text,
        "problem_sha256": text,
        "problem": HINDSIGHT_PROBLEM,
        "prices": fields({"unit_log2": whole, "batch": list_of(_WHOLE), "memory": list_of(_WHOLE)}),
        "device": _WHOLE,
        "start_period": _WHOLE,
        "bound": number,
        "value": number,
        "gap": number,
        "proven_by": text,
        "stop_reason": _STOP,
        "gap_option": number,
        "limit_s": number,
        "seed": whole,
        "evaluations": whole,
        "wall_s": number,
        "proof_s": number,
        "history": list_of(row(number, number, number, whole)),
    },
    {"versions": _VERSIONS},  # not those of named instances
)

IMBALANCE_PROBLEM = fields(
    dict.fromkeys(("prompt_tokens", "decode_tokens", "release_iteration", "slots"), _WHOLE)
)

IMBALANCE = fields(
    {
        "schema": text,
        "name": text,
        "problem_sha256": text,
        "problem": IMBALANCE_PROBLEM,
        "worker": optional(_WHOLE),
        "admission_iteration": optional(_WHOLE),
        "total_tokens": optional(whole),
        "bound_tokens": whole,
        "gap": optional(number),
        "proven_by": text,
        "stop_reason": _STOP,
        "limit_s": number,
        "wall_s": number,
        "versions": _VERSIONS,
    }
)

LISTING = fields(
    {
        "schema": text,
        "lines": list_of(fields({"policy": name, "iteration": whole, "sha256": text})),
    }
)
