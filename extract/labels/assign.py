"""Which item belongs to which: the assignment of two lists that is best in sum.

Pure; the algorithm is scipy's.
"""

from __future__ import annotations

from collections.abc import Sequence


def best_pairs(likeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs (row, column), in the order of the rows, whose likeness is the largest in sum.

    Pairs with nothing in common are left out.
    """
    if not likeness or not likeness[0]:
        return []
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment([[-value for value in row] for row in likeness])
    found = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]
    return [(i, j) for i, j in found if likeness[i][j] > 0]
