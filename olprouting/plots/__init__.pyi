from .axes import COLOURS as COLOURS
from .duality import plot_duality as plot_duality
from .gaps import plot_gap_distribution as plot_gap_distribution
from .loads import plot_trajectories as plot_trajectories
from .pareto import plot_pareto as plot_pareto
