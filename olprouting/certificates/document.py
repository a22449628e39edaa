"""Certificates: a result saved with its instance and with what proves its bound.

A document of schema ``olprouting/certificate/1`` holds ``instance`` (a decision or a period),
``instance_sha256`` (of the instance, however it is spaced), ``result`` (any backend's), and for
decisions ``proof`` (see `decision_bounds`); the prices of a period are its proof. What policies
chose for a decision, and their gaps, may stand beside as ``choices`` (see `verify_decision`).
Documents of schemas ``olprouting/hindsight/1`` and ``olprouting/hindsight-imbalance/1`` hold their
problem, ``problem_sha256``, and what proves their bound, anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olprouting.certificates.decision_value import DECISION
from olprouting.certificates.hindsight_value import HINDSIGHT_PROBLEM
from olprouting.certificates.imbalance_value import IMBALANCE_PROBLEM
from olprouting.certificates.period_value import PERIOD
from olprouting.certificates.reading import fields, in_doubles, read, read_exact, shown, text
from olprouting.certificates.verification import DoesNotHoldError
from olprouting.certificates.verify_decision import CHOICES, proof_of, verify_decision
from olprouting.certificates.verify_decision import RESULT as DECISION_RESULT
from olprouting.certificates.verify_hindsight import HINDSIGHT, verify_hindsight
from olprouting.certificates.verify_hindsight import SCHEMA as HINDSIGHT_SCHEMA
from olprouting.certificates.verify_imbalance import IMBALANCE, verify_imbalance
from olprouting.certificates.verify_imbalance import SCHEMA as IMBALANCE_SCHEMA
from olprouting.certificates.verify_period import RESULT as PERIOD_RESULT
from olprouting.certificates.verify_period import verify_period
from olprouting.errors import InputError
from olprouting.instances import Decision, PeriodProblem
from olprouting.instances.documents import fingerprint

if TYPE_CHECKING:
    from olprouting.certificates.reading import Reader
    from olprouting.certificates.verification import Verification
    from olprouting.instances import Result

SCHEMA = "olprouting/certificate/1"

_DECISION = ("olprouting/decision/1", "olprouting/solve-result/1")
_PERIOD = ("olprouting/period/1", "olprouting/period-result/1")

_CERTIFICATES = {
    _DECISION: fields(
        {
            "schema": text,
            "instance_sha256": text,
            "instance": DECISION,
            "result": DECISION_RESULT,
            "proof": proof_of,
        },
        {"choices": CHOICES},
    ),
    _PERIOD: fields(
        {"schema": text, "instance_sha256": text, "instance": PERIOD, "result": PERIOD_RESULT}
    ),
}

_HOLD_THEIR_PROBLEM = {
    HINDSIGHT_SCHEMA: (HINDSIGHT, HINDSIGHT_PROBLEM, verify_hindsight),
    IMBALANCE_SCHEMA: (IMBALANCE, IMBALANCE_PROBLEM, verify_imbalance),
}


def certificate(
    instance: Decision | PeriodProblem,
    result: Result[Any],
    proof: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a result with its instance and the strongest checkable proof of its bound.

    Parameters
    ----------
    instance
        What was solved.
    result
        What any backend returned.
    proof
        Of a decision's bound, if there is one already (`prove_decision`).

    Returns
    -------
    dict
        Plain JSON types, for `verify`.
    """
    document = instance.to_document()
    saved = {
        "schema": SCHEMA,
        "instance_sha256": fingerprint(document),
        "instance": document,
        "result": result.to_document(),
    }
    if isinstance(instance, Decision):
        from olprouting.certificates.prove_decision import prove_decision

        saved["proof"] = proof or prove_decision(instance, result.solution)
    return saved


def verify(text: str, source: str = "certificate", instance: str | None = None) -> Verification:
    """Check everything that a certificate claims, in exact arithmetic.

    Parameters
    ----------
    text
        A document of schema ``olprouting/certificate/1``, ``olprouting/hindsight/1`` or
        ``olprouting/hindsight-imbalance/1``.
    source
        Where it came from, for messages.
    instance
        What it must be for (JSON text), or None: a decision or a period; for a hindsight result
        its problem, or another result for the same problem.

    Raises
    ------
    DoesNotHoldError
        If a claim is wrong, or the certificate is for another instance; the message says which.
    InputError
        If the text is no certificate at all.
    """
    document = read_exact(text, source)
    schema = document.get("schema")
    if schema not in (SCHEMA, *_HOLD_THEIR_PROBLEM):
        raise InputError(
            f"{source}: expected a JSON object with schema {SCHEMA!r}, {HINDSIGHT_SCHEMA!r} or "
            f"{IMBALANCE_SCHEMA!r}, found {shown(schema)}; "
            "`olprouting solve --out` writes the first"
        )
    try:
        if schema == SCHEMA:
            return _verify_certificate(document, source, instance)
        fields_of, problem, check = _HOLD_THEIR_PROBLEM[schema]
        given = read(document, fields_of, source)
        _check_problem(document, problem, instance)
        return check(given)
    except (ArithmeticError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source}: not a {schema} document ({error})") from None


def _check_problem(document: dict[str, Any], problem: Reader[Any], instance: str | None) -> None:
    """Raise `DoesNotHoldError` unless a result is for the problem that it names."""
    found = fingerprint(in_doubles(document["problem"]))
    if found != document["problem_sha256"]:
        raise DoesNotHoldError("problem: its SHA-256 is not problem_sha256")
    if instance is not None:
        other = read_exact(instance, "instance")
        other = other.get("problem", other)
        read(other, problem, "instance")
        if fingerprint(in_doubles(other)) != found:
            raise DoesNotHoldError("problem: the result is for another one")


def _verify_certificate(
    document: dict[str, Any], source: str, instance: str | None
) -> Verification:
    kind = _kind(document, source)
    given = read(document, _CERTIFICATES[kind], source)
    found = _fingerprint(document["instance"], f"{source}: instance")
    if found != given["instance_sha256"]:
        raise DoesNotHoldError("instance: its SHA-256 is not instance_sha256")
    if instance is not None:
        other = read_exact(instance, "instance")
        if _fingerprint(other, "instance") != found:
            raise DoesNotHoldError("instance: the certificate is for another one")
    if kind == _DECISION:
        return verify_decision(
            given["instance"], given["result"], given["proof"], given.get("choices", ())
        )
    return verify_period(given["instance"], given["result"])


def _kind(document: dict[str, Any], source: str) -> tuple[str, str]:
    parts = (document.get("instance"), document.get("result"))
    schemas = tuple(part.get("schema") if isinstance(part, dict) else None for part in parts)
    for kind in _CERTIFICATES:
        if schemas == kind:
            return kind
    found = " for ".join(map(shown, reversed(schemas)))
    raise InputError(f"{source}: there is no certificate of {found}")


def _fingerprint(document: dict[str, Any], source: str) -> str:
    """Return the fingerprint of an instance in its normal form."""
    reader = PeriodProblem if document.get("schema") == _PERIOD[0] else Decision
    return fingerprint(reader.from_document(in_doubles(document), source).to_document())
