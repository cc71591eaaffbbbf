"""Lines of a terminal that are drawn over and over in the same place."""

import shutil
from collections.abc import Sequence
from typing import TextIO


class Screen:
    """The last lines of a terminal."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._drawn: list[str] = []

    def draw(self, lines: Sequence[str]) -> None:
        """Put these lines where the last ones were; each is cut to the width."""
        width = shutil.get_terminal_size().columns
        cut = [line[: width - 1] for line in lines]
        if cut == self._drawn:
            return
        up = f"\x1b[{len(self._drawn)}A" if self._drawn else ""
        body = "".join(f"\r\x1b[K{line}\n" for line in cut)
        self._output.write(f"{up}{body}")
        self._output.flush()
        self._drawn = cut
