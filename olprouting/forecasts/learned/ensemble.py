"""A sum of regression trees as plain arrays, checked however it came about."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.forecasts.learned.recent_kernels import AGE, FEATURES
from olprouting.forecasts.learned.tree_kernels import DEEPEST, LEAF, Trees
from olprouting.instances._checks import finite_vector, token_vector
from olprouting.instances.documents import refuse_wrong_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from sklearn.tree import DecisionTreeRegressor

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

OLDEST_SPLIT = 2**20
"""Trees split no later than at this age; every age up to the last split has a table entry."""


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """A number plus the leaf of every tree that a row of features falls into.

    Parameters
    ----------
    initial
        The number, finite.
    first
        The nodes of tree t stand at ``first[t]:first[t + 1]``, its root first; shape (T + 1,).
    feature
        Feature a node splits by, -1 for a leaf, shape (n,).
    threshold
        A row goes left where its feature is at most this; finite, shape (n,).
    left, right
        Child nodes, each after its parent and in the same tree, shape (n,); of leaves, -1.
    value
        What a leaf adds; finite, shape (n,).

    Raises
    ------
    InputError
        If the arrays are not such trees; the node at fault is named.
    """

    initial: float
    first: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats

    def __post_init__(self) -> None:
        initial = finite_vector("initial", [self.initial], 1)[0].item()
        first = token_vector("first", self.first, at_least=0)
        if len(first) == 0 or first[0] != 0 or (np.diff(first) < 1).any():
            raise InputError("first must start with 0 and increase: every tree has a root")
        nodes = int(first[-1])
        columns: dict[str, Any] = {"initial": initial, "first": first}
        for name in ("feature", "left", "right"):
            column = token_vector(name, getattr(self, name), at_least=-1, length=nodes)
            columns[name] = column
        for name in ("threshold", "value"):
            columns[name] = finite_vector(name, getattr(self, name), nodes)
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        self._refuse_bad_splits()
        self._refuse_bad_children()

    @classmethod
    def constant(cls, value: float) -> Self:
        """Return an ensemble without trees."""
        none, empty = np.empty(0, np.int64), np.empty(0)
        return cls(value, np.zeros(1, np.int64), none, empty, none, none, empty)

    @classmethod
    def from_trees(
        cls, initial: float, learning_rate: float, trees: Sequence[DecisionTreeRegressor]
    ) -> Self:
        """Return scikit-learn's trees, their leaves times the learning rate."""
        parts = [estimator.tree_ for estimator in trees]
        first = np.cumsum([0, *(part.node_count for part in parts)])
        based = list(zip(parts, first[:-1].tolist(), strict=True))
        return cls(
            initial=initial,
            first=first,
            feature=np.concatenate([np.maximum(part.feature, LEAF) for part in parts]),
            threshold=np.concatenate([part.threshold for part in parts]),
            left=np.concatenate([_moved(part.children_left, base) for part, base in based]),
            right=np.concatenate([_moved(part.children_right, base) for part, base in based]),
            value=np.concatenate([learning_rate * part.value[:, 0, 0] for part in parts]),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the arrays as plain lists."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }

    @classmethod
    def from_document(cls, where: str, document: Any) -> Self:
        """Return the ensemble that a JSON object called `where` holds.

        Raises
        ------
        InputError
            If it is not an object of these arrays, or they are not trees.
        """
        refuse_wrong_fields(where, document, {field.name for field in fields(cls)})
        try:
            return cls(**document)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None

    def age_splits(self) -> Ints:
        """Return the whole ages after which some tree changes, sorted, without repetition."""
        return np.unique(np.floor(self.threshold[self.feature == AGE]).astype(np.int64))

    def to_kernel(self, ages: Ints) -> Trees:
        """Return the trees for kernels.

        Parameters
        ----------
        ages
            Sorted ages, those of `age_splits` among them.
        """
        step = np.searchsorted(ages, np.floor(self.threshold))
        return Trees(  # writable copies, so that compiled code is the same with and without trees
            float(self.initial),
            self.first.copy(),
            self.feature.copy(),
            self.threshold.copy(),
            self.left.copy(),
            self.right.copy(),
            self.value.copy(),
            np.where(self.feature == AGE, step, LEAF),
        )

    def _refuse_bad_splits(self) -> None:
        unknown = self.feature >= len(FEATURES)
        if unknown.any():
            node = int(np.argmax(unknown))
            raise InputError(
                f"feature[{node}] = {self.feature[node]} must be less than {len(FEATURES)}"
            )
        late = (self.feature == AGE) & ~((self.threshold >= -1) & (self.threshold <= OLDEST_SPLIT))
        if late.any():
            node = int(np.argmax(late))
            raise InputError(
                f"threshold[{node}] = {self.threshold[node]:g} of an age must lie in "
                f"[-1, {OLDEST_SPLIT}]"
            )

    def _refuse_bad_children(self) -> None:
        nodes = len(self.feature)
        tree = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        end = self.first[1:][tree]
        depth = np.zeros(nodes, np.int64)
        parents = np.zeros(nodes, np.int64)
        for node in np.flatnonzero(self.feature != LEAF).tolist():
            for name in ("left", "right"):
                child = int(getattr(self, name)[node])
                if not node < child < end[node]:
                    raise InputError(
                        f"{name}[{node}] = {child} must be a later node of the same tree, "
                        f"{node + 1}..{end[node] - 1}"
                    )
                depth[child] = depth[node] + 1
                parents[child] += 1
        parents[self.first[:-1]] += 1
        if (parents != 1).any():
            node = int(np.argmax(parents != 1))
            raise InputError(f"node {node} must be the child of exactly one other, or a root")
        if depth.max(initial=0) > DEEPEST:
            raise InputError(f"a tree is {depth.max()} deep; at most {DEEPEST} is supported")
        childless = self.feature == LEAF
        if (self.left[childless] != LEAF).any() or (self.right[childless] != LEAF).any():
            raise InputError("leaves must have the children -1")


def _moved(children: Ints, base: int) -> Ints:
    return np.where(children < 0, LEAF, children + base)
