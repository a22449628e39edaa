"""The algebra: one module per mathematical model. Numbers in, model out.

The modules lie in the folder ``models`` at the top of the repository, so that the mathematics is
found first. A wheel holds that folder in place of this one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # type checkers follow no search path
    from models import barrier_rows as barrier_rows
    from models import hindsight_imbalance as hindsight_imbalance
    from models import hindsight_lp as hindsight_lp
    from models import imbalance_assignment as imbalance_assignment
    from models import imbalance_cpsat as imbalance_cpsat
    from models import imbalance_size_class as imbalance_size_class
    from models import linear as linear
    from models import period_dual as period_dual
    from models import period_integer as period_integer
    from models import period_lp as period_lp
    from models import reduced_dual as reduced_dual
    from models import saa_dual as saa_dual

__path__ = [str(Path(__file__).resolve().parents[2] / "models")]
