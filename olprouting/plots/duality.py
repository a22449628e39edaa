"""A linear program of two variables: what is feasible, the optimum, and its prices as normals."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from olprouting.plots.axes import STYLES, colour, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes

    Floats = npt.NDArray[np.float64]

ARROW = 0.4
"""Length of the objective's arrow, as a share of the longer axis."""

EXACT = 1e-9


def plot_duality(
    rewards: npt.ArrayLike,
    usage: npt.ArrayLike,
    capacity: npt.ArrayLike,
    prices: npt.ArrayLike,
    names: Sequence[str],
    resources: Sequence[str],
    ax: Axes | None = None,
) -> Axes:
    """Draw max r'x, A x <= b, x >= 0 for two variables, with its optimum and optimal prices.

    At the optimum the objective's gradient r is the sum of the normals of the binding rows, each
    as often as its price says: r = p'A (+ what x >= 0 takes). So prices are the weights by which
    the two binding rows span r; where r leaves the cone of the normals, another corner is optimal.

    Parameters
    ----------
    rewards
        r, shape (2,).
    usage, capacity
        A >= 0 and b >= 0, shapes (m, 2) and (m,).
    prices
        p >= 0, shape (m,).
    names, resources
        Of the two variables, and of the m rows.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    r, rows, b, p = (np.asarray(one, np.float64) for one in (rewards, usage, capacity, prices))
    ax = _square() if ax is None else ax
    corners = _corners(rows, b)
    best = corners[int(np.argmax(corners @ r))]
    ends = 1.25 * np.maximum(corners.max(axis=0), EXACT)
    ax.fill(*corners.T, color=colour(5), alpha=0.25, lw=0, label="feasible")
    for place, (row, limit, price) in enumerate(zip(rows, b, p, strict=True)):
        ax.plot(
            *_line(row, limit, ends).T,
            color=colour(place),
            ls="-" if price > 0 else "--",
            label=f"{literal(resources[place])}: {_sum(row)} ≤ {limit:g}, price {price:.4g}",
        )
    value = float(best @ r)
    ax.plot(*_line(r, value, ends).T, color="black", ls=STYLES[3], label=f"{_sum(r)} = {value:g}")
    scale = ARROW * float(ends.max()) / max(float(np.linalg.norm(r)), EXACT)
    _arrow(ax, best, scale * r, "black")
    priced = np.flatnonzero(p > 0).tolist()
    tips = [best + scale * p[place] * rows[place] for place in priced]
    for place, tip in zip(priced, tips, strict=True):
        _arrow(ax, best, tip - best, colour(place))
    if len(tips) == 2:
        for tip in tips:
            ax.plot(*np.array([tip, tips[0] + tips[1] - best]).T, color="0.5", lw=0.8, ls=":")
    ax.plot(*best, "o", color="black", label=f"optimum ({best[0]:g}, {best[1]:g})")
    reach = np.maximum(ends, best + 1.05 * scale * r)
    ax.set(
        xlabel=f"x: {literal(names[0])}",
        ylabel=f"y: {literal(names[1])}",
        title="Arrows: objective = price-weighted sum of the binding rows' normals",
        xlim=(0, reach[0]),
        ylim=(0, reach[1]),
    )
    ax.set_aspect("equal")  # else normals are not perpendicular
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    return ax


def _square() -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=(9, 5), layout="constrained").subplots()


def _corners(rows: Floats, limits: Floats) -> Floats:
    """Return the corners of {x >= 0, rows x <= limits}, around it in order."""
    lines = np.vstack([rows, np.eye(2)])
    ends = np.concatenate([limits, [0.0, 0.0]])
    found = []
    for pair in combinations(range(len(lines)), 2):
        matrix = lines[list(pair)]
        if abs(np.linalg.det(matrix)) > EXACT:
            point = np.linalg.solve(matrix, ends[list(pair)])
            tolerance = EXACT * np.maximum(1.0, np.abs(limits))
            if (point >= -EXACT).all() and (rows @ point <= limits + tolerance).all():
                found.append(np.maximum(point, 0.0))
    points = np.unique(np.round(np.array(found), 9), axis=0)
    around = points - points.mean(axis=0)
    ordered: Floats = points[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    return ordered


def _line(row: Floats, limit: float, ends: Floats) -> Floats:
    """Return both ends of row x = limit in the picture."""
    if row[1] <= EXACT:
        return np.array(
            [[limit / max(row[0], EXACT), 0.0], [limit / max(row[0], EXACT), 2 * ends[1]]]
        )
    across = np.array([0.0, 2 * ends[0]])
    return np.column_stack([across, (limit - row[0] * across) / row[1]])


def _sum(row: Floats) -> str:
    """Return a linear form in x and y."""
    terms = [
        f"{'' if factor == 1 else f'{factor:g} '}{name}"
        for factor, name in zip(row.tolist(), "xy", strict=True)
        if factor
    ]
    return " + ".join(terms) or "0"


def _arrow(ax: Axes, start: Floats, step: Floats, shade: str) -> None:
    ax.annotate(
        "",
        tuple((start + step).tolist()),
        tuple(start.tolist()),
        arrowprops={"arrowstyle": "-|>", "color": shade, "lw": 2, "shrinkA": 0, "shrinkB": 0},
    )
