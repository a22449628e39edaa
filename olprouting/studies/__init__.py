"""Parameter studies: grids of cells, run anywhere, and reported."""

from olprouting.studies.definition import Study, read_study
from olprouting.studies.parameters import Kind, parameters
from olprouting.studies.report import StudyReport, study_report
from olprouting.studies.results import Results
from olprouting.studies.run import StudyStatus, run_study, study_status

__all__ = [
    "Kind",
    "Results",
    "Study",
    "StudyReport",
    "StudyStatus",
    "parameters",
    "read_study",
    "run_study",
    "study_report",
    "study_status",
]
