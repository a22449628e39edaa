"""What one run of a policy gave, for people and machines."""

from olprouting.run_report.perfetto import check_perfetto, to_perfetto
from olprouting.run_report.report import RunReport

__all__ = ["RunReport", "check_perfetto", "to_perfetto"]
