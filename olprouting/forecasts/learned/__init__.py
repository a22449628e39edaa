"""The learned forecaster: boosted trees trained offline, a table lookup in the loop."""

from olprouting.forecasts.learned.model import LearnedModel
from olprouting.forecasts.learned.training import TrainingOptions, train_learned

__all__ = ["LearnedModel", "TrainingOptions", "train_learned"]
