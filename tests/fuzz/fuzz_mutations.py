"""Ways to spoil an input: of its bytes, of its values, of its cells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Mutation = Callable[[bytes, np.random.Generator], bytes]

RAW = (
    "null", "true", "false", '""', '"x"', '"1"', '"0x1f"', '"1/0"', '"1e999999999"', '"3/7"',
    "[]", "{}", "[[]]", "[1, [2]]", '{"a": 1}', '{"schema": {}}', "-1", "0", "1", "2", "7", "0.5",
    "-0.0", "1.0", "1e2", "1e15", "1e16", "1e308", "-1e308", "1e-320", "1e400", "NaN", "Infinity",
    "-Infinity", "9007199254740991", "9007199254740992", "9007199254740993",
    "9007199254740993.0", "4611686018427387904", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "1000000000000", "4294967296", "9" * 400, "9" * 5000,
    "[" * 900 + "]" * 900, "[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, '"\\ud800"',
    '"a\\nb"', '"' + "y" * 3000 + '"',
)  # fmt: skip
"""JSON values, as text: some are none."""

TOML = (
    "true", '""', '"x"', '"none"', "[]", "{}", "[[1]]", "-1", "0", "1", "2", "0.5", "1e308", "nan",
    "inf", "-inf", "1e400", "9007199254740993", "9223372036854775807", "9" * 60, "9" * 5000,
    "0x" + "f" * 4000, "1979-05-27", "07:32:00", "[" * 3000 + "]" * 3000, '"../x"', '"/x"',
    '"NUL"', '"a/b"', "'a\\b'", "{ from = 1, to = 1e18, by = 1 }",
    "{ from = 0, to = 1, steps = 1000000000000 }", "{ from = 1, to = 1e300, by = 1e-300 }",
    "{ from = nan, to = 2, by = 1 }", "{ from = 1, to = 2, by = true }", "{ from = 1, to = 2 }",
    "{ from = 1e-300, to = 1e300, steps = 5, scale = 'log' }", "1000000000000", "[1, 1]", "[0, -1]",
    '["jsq", 3]', '[{ policy = 3 }]', '["x.py:f"]', '[{ policy = "jsq", name = [] }]',
)  # fmt: skip

CELLS = (
    "", " ", "x", "nan", "inf", "-inf", "-1", "0", "1", "1.5", "true", "1e3", "1e308", "1e400",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "9" * 400, "9" * 5000, '"',
    '""', "a\nb", '"a\nb"', "2023-11-16 18:17:03.9799600", "2023-13-45", "\x00", "é", "﷽", ",", ";",
)  # fmt: skip

WORDS = (
    "", " ", "x", "nan", "inf", "-inf", "-1", "0", "1", "2", "0.5", "1e9", "1e308", "1e400",
    "1000000000", "1000000000000", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "99999999999999999999999", "9" * 400, "9" * 5000, "true", "none", "all",
    "[/x]", "[red]", "a\nb", "é", "../x", "/nowhere/x", "x:y:z", "noisy:nan", "noisy:2",
    "poisson:0", "poisson:nan", "poisson:1e-300", "poisson:1e300", "batches:0:1",
    "batches:1:nan", "batches:1000000000000:1", "uniform:1:1000000000000", "uniform:9:1",
    "uniform:²:3", "learned:", "learned:/nowhere", "x.csv", "highs", "cpsat", "native", "auto",
    "brute-force", "pyomo:x", "jsq", "br0,br0", "os:getcwd", "this:f", ":", ",", "²",
)  # fmt: skip
"""Values of options."""


def any_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip, cut, repeat, insert or encode, without a look at what is there."""
    where = int(rng.integers(len(data) + 1))
    kind = int(rng.integers(9))
    if kind == 0 and data:
        spoilt = bytearray(data)
        for place in rng.integers(len(data), size=int(rng.integers(1, 4))):
            spoilt[place] ^= 1 << int(rng.integers(8))
        return bytes(spoilt)
    if kind == 1:
        return data[:where]
    if kind == 2:
        return data[:where] + data[where // 2 :]
    if kind == 3:
        return data[where:]
    if kind == 4:
        text = data.decode("utf-8", "replace")
        return text.encode(str(rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32"])))
    if kind == 5:
        return b"\xef\xbb\xbf" + data
    if kind == 6:
        return data.replace(b"\n", [b"\r\n", b"\r", b"\n\n"][int(rng.integers(3))])
    odd = (b"\0", b"\xff\xfe", b"\x80", b'"', b"\n", b",", b"\\", b"{", b"]", b"9" * 50, b"#")
    return data[:where] + odd[int(rng.integers(len(odd)))] + data[where:]


def json_values(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace, remove, rename, repeat or add values of a JSON document."""
    document = json.loads(data)
    inserted: list[str] = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        _spoil(document, rng, inserted)
    text = json.dumps(document)
    for number, raw in enumerate(inserted):
        text = text.replace(f'"@raw{number}@"', raw)
    return text.replace("@twice@", "").encode("utf-8", "surrogatepass")


def _spoil(document: Any, rng: np.random.Generator, inserted: list[str]) -> None:
    holder, key = _place(document, rng)
    raw = RAW[int(rng.integers(len(RAW)))]
    kind = int(rng.integers(10))
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[str(key)[:-1] or "x"] = holder.pop(key)
    elif kind == 2 and isinstance(holder, dict):
        holder[f"@twice@{key}"] = holder[key]
    elif kind == 3 and isinstance(holder, list):
        holder.append(holder[key])
    elif kind == 4 and isinstance(holder, dict):
        holder["surplus"] = 1
    elif kind == 5 and isinstance(holder[key], int | float):
        step = int(rng.integers(-2, 3))
        holder[key] = holder[key] + step if rng.random() < 0.5 else holder[key] * 10**step
    else:
        inserted.append(raw)
        holder[key] = f"@raw{len(inserted) - 1}@"


def _place(document: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a random place below the root: shallow ones as likely as deep ones."""
    holder = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            holder.update(x=1) if isinstance(holder, dict) else holder.append(1)
            continue
        key = keys[int(rng.integers(len(keys)))]
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.75:
            holder = inner
            continue
        return holder, key


def json_lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Spoil a line of a file of JSON lines, or the order of lines."""
    lines = data.splitlines()
    row = int(rng.integers(len(lines)))
    kind = int(rng.integers(6))
    if kind == 0:
        del lines[row]
    elif kind == 1:
        lines.append(lines[row])
    elif kind == 2:
        lines[row] = RAW[int(rng.integers(len(RAW)))].encode()
    else:
        lines[row] = json_values(lines[row], rng)
    return b"\n".join(lines) + b"\n"


def toml_lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace the value of a line, or remove, repeat, rename or move the line."""
    lines = data.decode().splitlines()
    row = int(rng.integers(len(lines)))
    name, equals, _ = lines[row].partition("=")
    kind = int(rng.integers(8))
    if kind == 0:
        del lines[row]
    elif kind == 1:
        lines.insert(row, lines[row])
    elif kind == 2:
        lines[row] = lines[row][1:]
    elif kind == 3:
        lines.insert(int(rng.integers(len(lines))), lines.pop(row))
    elif equals:
        lines[row] = f"{name}= {TOML[int(rng.integers(len(TOML)))]}"
    else:
        lines[row] = f"name = {TOML[int(rng.integers(len(TOML)))]}"
    return "\n".join(lines).encode()


def cells(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace cells of a table of comma-separated values, or remove or repeat a row or column."""
    rows = [line.split(",") for line in data.decode().splitlines()]
    row, column = int(rng.integers(len(rows))), int(rng.integers(len(rows[0])))
    kind = int(rng.integers(9))
    if kind == 0:
        rows.pop(row)
    elif kind == 1:
        rows.insert(0, rows[row])
    elif kind == 2:
        rows = [[cell for place, cell in enumerate(one) if place != column] for one in rows]
    elif kind == 3:
        rows = [[one[column % len(one)], *one] for one in rows]
    elif kind == 4:
        rows[row] = rows[row][: int(rng.integers(len(rows[row])))]
    else:
        rows[row][column % len(rows[row])] = CELLS[int(rng.integers(len(CELLS)))]
    return "\n".join(",".join(one) for one in rows).encode() + b"\n"
