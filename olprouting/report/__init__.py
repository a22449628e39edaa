"""What questions found: one type that is written, printed and shown as a page in one way."""

from olprouting.report.figures import Picture
from olprouting.report.page import Section, page, table_html
from olprouting.report.report import Report, Table, frame_of, text_of

__all__ = [
    "Picture",
    "Report",
    "Section",
    "Table",
    "frame_of",
    "page",
    "table_html",
    "text_of",
]
