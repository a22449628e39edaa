"""A branch and bound of our own for the imbalance program IO_H, compiled.

**What is searched.** Only workers with free slots decide anything, and a worker matters only
through the total b_g and the number n_g of its new requests. The search places one worker after
another: at depth j it runs through the subsets of the remaining requests whose total lies in a
window (`subset_kernels`), requests of equal size being interchangeable. When the pool fills every
slot n_g = c_g; when all requests are admitted and slots stay free, n_g is enumerated as well.

**Bound.** With n given, the program is convex in b. Relaxing "b_g is the sum of a subset" to
"n smallest <= b_g <= n largest" leaves the minimum of an L-natural convex function over a box,
which has a whole minimiser that steepest descent over sets of workers finds
(`relaxation_kernels`, `flow_kernels`; at H = 0 a single peak is left, found in closed form).
Workers that want the same requests are charged for them (`charge_kernels`): any charges c_g give a
valid bound, since

    min_b phi(b) >= min_b [ phi(b) + sum_g c_g b_g ] - max_{division of requests} sum_g c_g b_g,

and the last maximum gives the largest requests to the highest charges, the smallest to the lowest
below 0. Maximised over c by a bundle method at the root, this is the value of the linear relaxation
with one variable per request and worker; a few steps adapt c at each node. If all requests are
admitted their total is known: at each offset the peak is at least the level to which that total
fills the remaining workers, as far as their slots allow; one of them gets the largest request, and
the q largest are on q workers or two of them on one (`bound_kernels`).

**Totals that can be had.** Up to three free slots can have few totals, which are listed
(`total_kernels`). The relaxation is asked twice about each worker: with the possible total next
below its minimiser, and with the one next above. If both reach the cut, the node is left; if one
does, that side of the worker's box is, and the bound may rise (`window_kernels`).

**Windows.** For fixed earlier workers the bound is convex in b_j, so that the totals with a bound
below the cut form an interval around a minimiser; it is found by doubling and bisection, rounded
outwards. Nothing outside it can improve the incumbent. Within it, requests that other workers are
charged for count against a budget, which leaves few subsets where the charges are telling
(`regret_kernels`).

**Completion.** A node whose remaining workers can take the largest remaining requests without
raising a peak is done: no completion is better (`count_kernels`). Workers that matter for the peaks
are therefore placed first.

**Dominance.** Of two workers with equally many slots, if A[j,h] >= A[g,h] at every offset, some
optimum has b_j <= b_g: swapping their requests otherwise lowers or keeps every peak and keeps every
sum. Where n_g is free and requests grow, only equal workers are ordered.

**Largest requests first.** A few requests far larger than the rest make the relaxation weak, which
divides them. So the decision is divided by where its largest requests go, one whole request after
another; each part is a decision again, with bounds and a search of its own (`largest`).

**Passes.** A greedy assignment improved by exchanges comes first (`incumbent_kernels`). Then passes
look at everything below root bound + reach, with reach growing: a pass without success raises the
proven bound, and the one that reaches the incumbent proves it. The division by the largest requests
and two orders of the workers take turns with growing budgets, since none is best throughout; random
exchanges fill the pauses. Where a
myopic decision admits everything only the peak varies, and is bisected: whether all requests fit
below it is bin packing, which has an algorithm of its own (`fill_kernels`).

**Arithmetic.** Token figures are whole numbers below 2^50 in doubles, hence exact; larger ones are
refused. With gamma = 1 or H = 0 values are whole too, and differ by at least 1 (by G if everything
is admitted, since then only the peaks vary), which rounds bounds up. With gamma < 1 a value carries
a rounding error below ``margin``. Nodes are cut only at a bound >= incumbent - margin, and every
cut within the margin is counted: with none, the proof is exact. Otherwise either the incumbent is
shown in fractions to meet a root bound (`certify`), or the ties are searched in a
second run that compares each one in fractions; if that takes too long, the bound stays below the
incumbent by the margin, and the result says so.

**Limits.** The compiled search keeps all it knows in `SearchState` and returns to Python about
every 0.05 s, where the clock, the callback and Ctrl-C are minded. No clock runs while kernels are
compiled or loaded.

Source: the program is the balance paper's, section 3; the method is ours.
"""

from olprouting.exact.native.backend import Native

__all__ = ["Native"]
