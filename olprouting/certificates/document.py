"""Certificates: a result saved with its instance and with what proves its bound.

A document of schema ``olprouting/certificate/1`` holds ``instance`` (a decision or a period),
``instance_sha256`` (of the instance, however it is spaced), ``result`` (any backend's), and for
decisions ``proof`` (see `decision_bounds`); the prices of a period are its proof. A document of
schema ``olprouting/hindsight/1`` holds its problem, and prices that prove its bound, anyway.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from olprouting.certificates.exact_json import fingerprint, read_exact
from olprouting.certificates.verification import DoesNotHoldError
from olprouting.certificates.verify_decision import verify_decision
from olprouting.certificates.verify_hindsight import SCHEMA as HINDSIGHT
from olprouting.certificates.verify_hindsight import verify_hindsight
from olprouting.certificates.verify_period import verify_period
from olprouting.errors import InputError
from olprouting.instances import Decision, PeriodProblem, PeriodResult, SolveResult
from olprouting.instances.documents import naming, refuse_wrong_fields

if TYPE_CHECKING:
    from olprouting.certificates.verification import Verification

SCHEMA = "olprouting/certificate/1"

_DECISION = ("olprouting/decision/1", "olprouting/solve-result/1")
_PERIOD = ("olprouting/period/1", "olprouting/period-result/1")


def certificate(
    instance: Decision | PeriodProblem, result: SolveResult | PeriodResult
) -> dict[str, Any]:
    """Return a result with its instance and the strongest checkable proof of its bound.

    Parameters
    ----------
    instance
        What was solved.
    result
        What any backend returned.

    Returns
    -------
    dict
        Plain JSON types, for `verify`.
    """
    document = json.loads(instance.to_json())
    saved = {
        "schema": SCHEMA,
        "instance_sha256": fingerprint(document),
        "instance": document,
        "result": result.to_document(),
    }
    if isinstance(instance, Decision):
        from olprouting.certificates.prove_decision import prove_decision

        assert isinstance(result, SolveResult)
        saved["proof"] = prove_decision(instance, result.assignment)
    return saved


def verify(text: str, source: str = "certificate", instance: str | None = None) -> Verification:
    """Check everything that a certificate claims, in exact arithmetic.

    Parameters
    ----------
    text
        A document of schema ``olprouting/certificate/1`` or ``olprouting/hindsight/1``.
    source
        Where it came from, for messages.
    instance
        A decision or period (JSON text) that a certificate must be for, or None.

    Raises
    ------
    DoesNotHoldError
        If a claim is wrong, or the certificate is for another instance; the message says which.
    InputError
        If the text is no certificate at all.
    """
    document = read_exact(text, source)
    schema = document.get("schema")
    if schema not in (SCHEMA, HINDSIGHT):
        raise InputError(
            f"{source}: expected a JSON object with schema {SCHEMA!r} or {HINDSIGHT!r}, found "
            f"{schema!r}; `olprouting solve --out` writes the first"
        )
    if schema == HINDSIGHT and instance is not None:
        raise InputError(f"{source}: a hindsight result holds its problem; give no instance")
    try:
        if schema == HINDSIGHT:
            return verify_hindsight(document)
        return _verify_certificate(document, text, source, instance)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{source}: not a {schema} document ({error!r})") from None


def _verify_certificate(
    document: dict[str, Any], text: str, source: str, instance: str | None
) -> Verification:
    with naming(source, SCHEMA):
        refuse_wrong_fields(
            "certificate", document, {"schema", "instance_sha256", "instance", "result"}, ["proof"]
        )
    given = json.loads(text)  # the same as doubles, for the readers of instances and results
    kind = _kind(given, source)
    found = _fingerprint(given["instance"], f"{source}: instance")
    if found != document["instance_sha256"]:
        raise DoesNotHoldError("instance: its SHA-256 is not instance_sha256")
    if instance is not None and _fingerprint(json.loads(instance), "instance") != found:
        raise DoesNotHoldError("instance: the certificate is for another one")
    if kind == _DECISION:
        SolveResult.from_json(json.dumps(given["result"]), f"{source}: result")
        return verify_decision(document["instance"], document["result"], document["proof"])
    PeriodResult.from_json(json.dumps(given["result"]), f"{source}: result")
    return verify_period(document["instance"], document["result"])


def _kind(document: dict[str, Any], source: str) -> tuple[str, str]:
    parts = (document["instance"], document["result"])
    schemas = tuple(part.get("schema") if isinstance(part, dict) else None for part in parts)
    for kind in (_DECISION, _PERIOD):
        if schemas == kind:
            return kind
    raise InputError(f"{source}: there is no certificate of {schemas[1]!r} for {schemas[0]!r}")


def _fingerprint(document: dict[str, Any], source: str) -> str:
    """Return the fingerprint of an instance in its normal form."""
    reader = PeriodProblem if document.get("schema") == _PERIOD[0] else Decision
    normal = reader.from_json(json.dumps(document), source).to_json()
    return fingerprint(json.loads(normal))
