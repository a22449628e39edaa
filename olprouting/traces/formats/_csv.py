"""Text tables, with commas, semicolons or tabs between cells, block by block.

Arrow parses whole blocks that lie in memory, in the calling thread. Its own streaming reader reads
ahead in threads that call back into Python; where reading is given up early, they can hang or
abort the interpreter at its exit.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.traces._packing import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    import pyarrow as pa

    from olprouting.traces._place import Place
    from olprouting.traces._source import Source

DELIMITERS = (",", ";", "\t")

BLOCK_BYTES = 4 << 20
"""How much is parsed at a time."""

MOST_HEADER_CHARACTERS = 1 << 15
"""The longest header; a longer first line may go on after what was looked at."""

MOST_ROW_BYTES = 64 << 20
"""The longest row."""


CR_ALONE = "its lines end in CR alone: save it with line ends LF or CRLF"
"""What is wrong with text whose first line never ends."""

# Arrow's handler of such rows would be told less: it fails where a row is not UTF-8.
_WRONG_COUNT = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


class _BadRowError(ValueError):
    """The row after the last whole one cannot be read."""


def header(source: Source) -> list[str]:
    """Return the column names without blanks around them; empty if this is no text table.

    Raises
    ------
    InputError
        If its lines have no end that is known here.
    """
    line = source.first_line()
    if "\r" in line and re.sub(r"[\t\r]", "", line).isprintable():
        raise InputError(f"{source.path}: {CR_ALONE}")
    if len(line) > MOST_HEADER_CHARACTERS or not line.replace("\t", "").isprintable():
        return []
    return _cells(line, delimiter_of(line))


def delimiter_of(line: str) -> str:
    """Return what stands between most cells of a header."""
    return max(DELIMITERS, key=lambda delimiter: len(_cells(line, delimiter)))


def batches(source: Source, place: Place, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the chosen columns as text, block by block."""
    above, line = source.text_begins()
    parse = _Parser(source, place, line, columns)
    with source.open() as file:
        try:
            for _ in range(above + 1):
                file.readline()
            for block in _blocks(file, parse.row):
                yield from parse(block)
        except _BadRowError as error:
            raise place.row_error(parse.rows + 1, str(error)) from None
        except UnicodeDecodeError:
            raise place.row_error(parse.rows, "the text after this row is not UTF-16") from None
        except DAMAGED as error:
            raise damaged(source, place, parse.rows, error) from None


def damaged(source: Source, place: Place, row: int, error: Exception) -> InputError:
    """Build the error for a file that cannot be read to its end."""
    if source.packing is None and not isinstance(error, EOFError):
        return place.row_error(row, f"cannot be read after this {place.row_word}: {error}")
    word = "packed" if source.packing is None else source.packing.name
    return place.row_error(
        row,
        f"the {word} data are truncated or damaged after this {place.row_word}; download it again",
    )


class _Parser:
    """Turns blocks of whole rows into batches, and counts rows."""

    def __init__(self, source: Source, place: Place, line: str, columns: Sequence[str]) -> None:
        names = header(source)
        self.rows = 0
        self._delimiter = delimiter_of(line)
        self._place = place
        # Columns go by their places: names may be empty, or stand twice where nobody needs them.
        self._columns = {str(names.index(name)): name for name in columns}
        self._count = len(names)
        self.row = _row_pattern(self._delimiter)

    def __call__(self, block: bytes) -> list[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import csv as pa_csv

        try:
            table = pa_csv.read_csv(
                pa.BufferReader(block),
                read_options=pa_csv.ReadOptions(
                    use_threads=False,
                    block_size=len(block),
                    column_names=[str(place) for place in range(self._count)],
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(self._columns, pa.string()),
                    include_columns=list(self._columns),
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._bad_row(str(error)) from None
        self.rows += table.num_rows
        columns = [self._columns[name] for name in table.column_names]
        return [batch.rename_columns(columns) for batch in table.to_batches()]

    def _bad_row(self, problem: str) -> InputError:
        found = _WRONG_COUNT.search(problem)
        if found is None:
            return InputError(
                f"{self._place.file}, after {self._place.row_word} {self.rows}: "
                f"{' '.join(problem.split())}"
            )
        row, expected, actual, text = found.groups()
        return self._place.row_error(
            self.rows + int(row), f"{actual} values where the header has {expected}: {text!r:.200}"
        )


def _blocks(file: BinaryIO, row: re.Pattern[bytes]) -> Iterator[bytes]:
    """Yield the rest of a file in pieces that end where a row ends."""
    block = b""
    while piece := file.read(BLOCK_BYTES):
        block += piece
        end = _end_of_rows(block, row)
        if end:
            yield block[:end]
            block = block[end:]
        elif len(block) > MOST_ROW_BYTES:
            raise _BadRowError(f"has more than {MOST_ROW_BYTES:,} bytes: is a quote not closed?")
    if block.strip():
        block += b"\n"
        end = _end_of_rows(block, row)
        if end:
            yield block[:end]
        if end < len(block):
            raise _BadRowError("a quote that opens in this row is never closed")


def _end_of_rows(block: bytes, row: re.Pattern[bytes]) -> int:
    """Return where the last whole row of a block ends, which begins with a row; 0 if none does."""
    if b'"' not in block:
        return block.rfind(b"\n") + 1
    end = 0
    for whole in row.finditer(block):
        if whole.start() != end:
            break
        end = whole.end()
    return end


def _row_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a whole row, with line breaks in quoted cells.

    As Arrow sees it, a quote opens a cell at its very beginning only, and two within it are one.
    """
    rest = rb"[^\n" + re.escape(delimiter.encode()) + rb"]*+"
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"' + rest + rb'|(?!")' + rest + rb")"
    return re.compile(rb"(?:" + cell + re.escape(delimiter.encode()) + rb")*" + cell + rb"\n")


def _cells(line: str, delimiter: str) -> list[str]:
    cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [cell.strip() for cell in cells]
