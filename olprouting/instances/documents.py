"""Versioned JSON documents and the summaries printed for people: what the instance types share."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def load_document(text: str, source: str, schema: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds; its schema must be `schema`."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    if not isinstance(document, dict) or document.get("schema") != schema:
        found = document.get("schema") if isinstance(document, dict) else None
        raise InputError(
            f"{source}: expected a JSON object with schema {schema!r}, found {found!r}"
        )
    return document


@contextmanager
def naming(source: str, schema: str) -> Iterator[None]:
    """Say in every message of bad values where they came from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{source}: not a {schema} document ({error})") from None


def refuse_wrong_fields(
    where: str, document: Mapping[str, Any], required: set[str], optional: Iterable[str] = ()
) -> None:
    """Raise where an object lacks a field or has one that nobody knows."""
    known = required.union(optional)
    missing, extra = required - document.keys(), document.keys() - known
    if missing:
        raise InputError(f"{where} lacks {', '.join(sorted(missing))}")
    if extra:
        raise InputError(
            f"{where} has unknown field(s) {', '.join(sorted(extra))}; "
            f"expected {', '.join(sorted(known))}"
        )


def require_equal(name: str, stated: Any, proven: Any) -> None:
    """Raise where a document states something else than its other fields prove."""
    if stated != proven:
        raise InputError(f"{name} is stated as {stated!r}, but the document proves {proven!r}")


def fingerprint(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a JSON document; spaces, order of fields, 6 or 6.0 do not matter."""
    canonical = json.dumps(_plain(document), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _plain(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return int(node) if isinstance(node, float) and node.is_integer() else node


def aligned(rows: Mapping[str, Any]) -> str:
    """Return one line per row, names and values in columns; a missing value reads ``none``."""
    width = max(map(len, rows))
    return "\n".join(
        f"{name:<{width}}  {'none' if value is None else value}" for name, value in rows.items()
    )
