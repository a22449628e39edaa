"""Versioned JSON documents and the summaries printed for people: what the instance types share.

Everything that reads JSON or TOML reads it here: a file says one thing, once, or it is refused.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import io
import json
import math
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from olprouting.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_DIGITS = "a number has more than 4,300 digits"
_OTHER_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def read_text(path: str | Path) -> str:
    """Return what a UTF-8 file holds, without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be read or is not UTF-8; the message says what to do.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:  # a name with a NUL is none
        raise InputError(f"{path}: cannot be read ({error})") from None
    if data.startswith(_OTHER_ENCODINGS) or b"\0" in data[:4]:
        raise InputError(f"{path}: the text is UTF-16 or UTF-32; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 (0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None
    return io.StringIO(text, newline=None).read()


def load_json(text: str, source: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """Return what a JSON text holds; a byte-order mark is allowed.

    Parameters
    ----------
    text
        The text.
    source
        Where it came from, for messages.
    parse_float
        What reads a number that is not written as an integer; None makes doubles of them.

    Raises
    ------
    InputError
        If it is not JSON, a name stands twice in an object, a number is NaN, infinite or of
        thousands of digits, or it is nested too deeply.
    """
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_float=parse_float or _finite,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except ValueError:  # the only other one: Python reads no integers of so many digits
        raise InputError(f"{source}: {_DIGITS}") from None
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"the field {shown(twice)} stands twice in one object; give it once")
    return document


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"the number {text[:40]} is too large for a double; at most 1.8e308")
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise InputError(f"{text} is not a number; a missing value is written null")


def load_toml(text: str, source: str) -> dict[str, Any]:
    """Return what a TOML text holds.

    Raises
    ------
    InputError
        If it is not TOML, holds a number of thousands of digits, or is nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{source}: the TOML is nested too deeply") from None
    except ValueError as error:
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else _DIGITS
        raise InputError(f"{source}: not TOML: {why}") from None


def load_document(text: str, source: str, schema: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds; its schema must be `schema`."""
    return of_schema(load_json(text, source), source, schema)


def of_schema(document: Any, source: str, schema: str) -> dict[str, Any]:
    """Return a JSON object; raise unless it is one, and of this schema."""
    found = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(document, dict) or found != schema:
        raise InputError(
            f"{source}: expected a JSON object with schema {schema!r}, found {shown(found)}"
        )
    return document


@contextmanager
def naming(source: str, schema: str) -> Iterator[None]:
    """Say in every message of bad values where they came from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except RecursionError:
        raise InputError(f"{source}: not a {schema} document (nested too deeply)") from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{source}: not a {schema} document ({error})") from None


def refuse_wrong_fields(
    where: str, document: Mapping[str, Any], required: set[str], optional: Iterable[str] = ()
) -> None:
    """Raise where an object lacks a field or has one that nobody knows."""
    if not isinstance(document, dict):
        raise InputError(f"{where} must be an object, found {shown(document)}")
    known = required.union(optional)
    missing, extra = required - document.keys(), document.keys() - known
    if extra:
        name = min(extra)
        near = difflib.get_close_matches(name, known - document.keys(), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{where} has unknown field(s) {', '.join(shown(one)[1:-1] for one in sorted(extra))}; "
            f"expected {', '.join(sorted(known))}.{hint}"
        )
    if missing:
        raise InputError(f"{where} lacks {', '.join(sorted(missing))}")


def require_equal(name: str, stated: Any, proven: Any) -> None:
    """Raise where a document states something else than its other fields prove."""
    if stated != proven:
        raise InputError(
            f"{name} is stated as {shown(stated)}, but the document proves {shown(proven)}"
        )


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
