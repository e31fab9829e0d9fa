"""The assignment problem: rows and columns are paired one to one so that the sum of gains is the highest.

Kuhn's and Munkres' method in its form of shortest augmenting paths, with prices for rows and columns; the time grows
with the third power of the size. Source: Kuhn 1955; Jonker and Volgenant 1987.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int


def best_assignment(gains: Sequence[Sequence[float]] | Float[np.ndarray, "rows columns"]) -> list[tuple[int, int]]:
    """(row, column) pairs; as many as there are rows or columns, whichever are fewer."""
    table = np.asarray(gains, dtype=np.float64)
    if table.size == 0:
        return []
    if len(table) > table.shape[1]:
        return sorted((row, column) for column, row in best_assignment(table.T))
    costs = -table
    num_rows, num_columns = costs.shape
    row_price, column_price = np.zeros(num_rows), np.zeros(num_columns)
    row_of = np.full(num_columns, -1)
    for row in range(num_rows):
        _augment(row, costs, row_price, column_price, row_of)
    return sorted((int(row), column) for column, row in enumerate(row_of) if row >= 0)


def _augment(
    start: int,
    costs: Float[np.ndarray, "rows columns"],
    row_price: Float[np.ndarray, " rows"],
    column_price: Float[np.ndarray, " columns"],
    row_of: Int[np.ndarray, " columns"],
) -> None:
    """Gives `start` a column; others may have to move, along the cheapest path to a free column."""
    num_columns = costs.shape[1]
    distance, before = np.full(num_columns, np.inf), np.full(num_columns, -1)
    done = np.zeros(num_columns, dtype=bool)
    row, reached, column = start, 0.0, -1
    while row >= 0:
        through = reached + costs[row] - row_price[row] - column_price
        shorter = ~done & (through < distance)
        distance[shorter], before[shorter] = through[shorter], column
        column = int(np.where(done, np.inf, distance).argmin())
        reached, row = distance[column], int(row_of[column])
        done[column] = True
    for visited in np.flatnonzero(done & (row_of >= 0)):
        row_price[row_of[visited]] += reached - distance[visited]
    row_price[start] += reached
    column_price[done] -= reached - distance[done]
    while column >= 0:
        previous = int(before[column])
        row_of[column] = start if previous < 0 else row_of[previous]
        column = previous
