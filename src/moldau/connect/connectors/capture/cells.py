"""Values of columns as a database writes them: texts, and what stands for what is not there."""

from collections.abc import Sequence
from enum import Enum


class Toast(Enum):
    """Stands for a large value that a change left as it was: the log does not have it."""

    UNCHANGED = "unchanged"


Cell = str | None | Toast
"""A value of a column, as text; None is null."""
Cells = Sequence[Cell]
