"""What questions found: one type that is written, printed and shown as a page in one way."""

from olprouting.report.page import Section, page, png, table_html
from olprouting.report.report import Report, Table, frame_of, text_of

__all__ = [
    "Report",
    "Section",
    "Table",
    "frame_of",
    "page",
    "png",
    "table_html",
    "text_of",
]
