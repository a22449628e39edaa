"""Results that carry their own proof, and checking them in exact arithmetic."""

from olprouting.certificates.document import certificate, verify
from olprouting.certificates.many import Findings, verify_lines, write_certificates
from olprouting.certificates.prove_decision import proofs, prove_decision
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification

__all__ = [
    "DoesNotHoldError",
    "Findings",
    "Verdict",
    "Verification",
    "certificate",
    "proofs",
    "prove_decision",
    "verify",
    "verify_lines",
    "write_certificates",
]
