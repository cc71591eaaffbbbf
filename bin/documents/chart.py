"""The chart of the front page, as SVG: bars from the tables of docs/benchmarks.md."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _ROW, _LABEL, _BAR, _TOP = 760, 26, 250, 400, 44
# Readers with a dark page see dark colours.
_STYLE = """<style>
.page { fill: #ffffff } .name { fill: #1f2933 } .figure { fill: #52606d }
.ours { fill: #1b6ca8 } .theirs { fill: #b8c4d0 }
@media (prefers-color-scheme: dark) {
.page { fill: #161b22 } .name { fill: #e6edf3 } .figure { fill: #9aa7b4 }
.ours { fill: #4ea3e0 } .theirs { fill: #57636f }
}
</style>"""
_CELL = re.compile(r"[-\d,.]+")


class Figure(NamedTuple):
    """One thing that both brokers were measured by; less is better."""

    name: str
    unit: str
    theirs: float
    ours: float


# Section and row of docs/benchmarks.md -> what the chart calls it.
ROWS = {
    ("Broker", "start to first Metadata answer, s"): ("Start", "s"),
    ("Broker", "memory idle, MB"): ("Memory, idle", "MB"),
    ("Broker", "memory after load, MB"): ("Memory, after load", "MB"),
    ("Broker", "… broker CPU s/GB"): ("CPU for 1 GB produced", "s"),
    ("Broker", "end to end, p99 µs"): ("End to end, p99", "µs"),
    ("Broker", "a broker for one test, ms"): ("A broker for one test", "ms"),
}


def figures(document: str) -> list[Figure]:
    """The rows of the chart; the first row of a name counts."""
    found: dict[tuple[str, str], Figure] = {}
    for section, cells in _rows(document):
        key = (section, cells[0])
        if key in ROWS and key not in found:
            theirs, ours = (float(_CELL.findall(cell)[0].replace(",", "")) for cell in cells[1:3])
            found[key] = Figure(*ROWS[key], theirs, ours)
    missing = ROWS.keys() - found.keys()
    if missing:
        raise ValueError(f"docs/benchmarks.md has no {sorted(missing)}")
    return [found[key] for key in ROWS]


def draw(rows: Sequence[Figure]) -> str:
    """Two bars for each figure, the longer one as long as there is room."""
    height = _TOP + len(rows) * 2 * _ROW + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"',
        f'width="{_WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        _STYLE,
        '<rect width="100%" height="100%" rx="8" class="page"/>',
        _legend(),
    ]
    for place, figure in enumerate(rows):
        parts += _bars(figure, _TOP + place * 2 * _ROW)
    return "\n".join([*parts, "</svg>", ""])


def read(root: Path) -> str:
    """The chart of the figures as they are."""
    return draw(figures((root / "docs" / "benchmarks.md").read_text(encoding="utf-8")))


def _rows(document: str) -> Iterator[tuple[str, list[str]]]:
    section = ""
    for line in document.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and line.count("|") > 3:
            yield section, [cell.strip(" *") for cell in line.strip("|").split("|")]


def _legend() -> str:
    return (
        f'<rect x="{_LABEL}" y="16" width="12" height="12" class="ours"/>'
        f'<text x="{_LABEL + 18}" y="27" class="name">Moldau</text>'
        f'<rect x="{_LABEL + 90}" y="16" width="12" height="12" class="theirs"/>'
        f'<text x="{_LABEL + 108}" y="27" class="name">Apache Kafka 3.9</text>'
        f'<text x="{_WIDTH - 20}" y="27" text-anchor="end" class="figure">shorter is better</text>'
    )


def _bars(figure: Figure, y: int) -> Iterator[str]:
    middle = y + _ROW
    yield (
        f'<text x="{_LABEL - 14}" y="{middle + 2}" text-anchor="end" class="name">'
        f"{escape(figure.name)}</text>"
    )
    longest = max(figure.theirs, figure.ours)
    for row, (value, whose) in enumerate(((figure.ours, "ours"), (figure.theirs, "theirs"))):
        length = max(2.0, value / longest * _BAR)
        top = y + 6 + row * 20
        yield f'<rect x="{_LABEL}" y="{top}" width="{length:.1f}" height="16" class="{whose}"/>'
        yield (
            f'<text x="{_LABEL + length + 8:.1f}" y="{top + 12}" class="figure">'
            f"{value:,g} {figure.unit}</text>"
        )
