"""Operators of Streams as pictures: what goes in and what comes out, along the time of records.

What a picture shows is data here; `tests/conformance/test_operator_pictures.py` runs each one.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape


class Mark(NamedTuple):
    """A record on a line: its time, its key, and its value; None deletes."""

    at: int
    key: str
    value: str | None


class Operator(NamedTuple):
    """An operator: how it is written, the topics that it reads, and what it writes."""

    name: str
    about: str
    code: str
    inputs: dict[str, list[Mark]]
    output: list[Mark]

    @property
    def has_state(self) -> bool:
        """Whether the order of records counts."""
        return "group_by" in self.code or "join(" in self.code


OPERATORS = (
    Operator(
        "filter",
        "Keeps records for which the predicate is true. `filter_not` keeps the others.",
        "builder.stream('in').filter('length(value) > 2').to('out')",
        {"in": [Mark(1, "a", "sea"), Mark(3, "b", "on"), Mark(6, "a", "ships")]},
        [Mark(1, "a", "sea"), Mark(6, "a", "ships")],
    ),
    Operator(
        "map_values",
        "Makes a new value from each record. `map` makes a new key, too.",
        "builder.stream('in').map_values('upper(value)').to('out')",
        {"in": [Mark(1, "a", "sea"), Mark(4, "b", "sky")]},
        [Mark(1, "a", "SEA"), Mark(4, "b", "SKY")],
    ),
    Operator(
        "flat_map_values",
        "Makes any number of values from each record. `flat_map` makes keys, too.",
        "builder.stream('in').flat_map_values(\"split(value, ' ')\").to('out')",
        {"in": [Mark(1, "a", "to sea"), Mark(6, "b", "by")]},
        [Mark(1, "a", "to"), Mark(1, "a", "sea"), Mark(6, "b", "by")],
    ),
    Operator(
        "select_key",
        "Makes a new key for each record.",
        "builder.stream('in').select_key('value').to('out')",
        {"in": [Mark(1, "a", "x"), Mark(4, "b", "y")]},
        [Mark(1, "x", "x"), Mark(4, "y", "y")],
    ),
    Operator(
        "merge",
        "Writes the records of two streams as one.",
        "builder.stream('in').merge(builder.stream('more')).to('out')",
        {"in": [Mark(1, "a", "1"), Mark(6, "a", "3")], "more": [Mark(3, "b", "2")]},
        [Mark(1, "a", "1"), Mark(3, "b", "2"), Mark(6, "a", "3")],
    ),
    Operator(
        "count",
        "Counts the records of each key. The result is a table: every change is written.",
        "builder.stream('in').group_by_key().count()"
        ".to_stream().map_values('cast(value as string)').to('out')",
        {"in": [Mark(1, "a", "x"), Mark(3, "b", "x"), Mark(6, "a", "x")]},
        [Mark(1, "a", "1"), Mark(3, "b", "1"), Mark(6, "a", "2")],
    ),
    Operator(
        "stream join table",
        "Each record of the stream gets the row that its key has at that time.",
        "builder.stream('in').join(builder.table('rows'), \"concat(left, '+', right)\").to('out')",
        {
            "rows": [Mark(1, "a", "X"), Mark(5, "a", "Y")],
            "in": [Mark(3, "a", "1"), Mark(7, "a", "2"), Mark(9, "b", "3")],
        },
        [Mark(3, "a", "1+X"), Mark(7, "a", "2+Y")],
    ),
)

_LEFT, _STEP, _ROW, _TOP = 70, 52, 56, 34
_COLOURS = {"a": "#1b6ca8", "b": "#c2571a", "x": "#3a7d44", "y": "#7a4fa3"}
_TEXT, _DIM, _BOX = "#1f2933", "#667788", "#eef2f6"


def page() -> str:
    """The page of all operators."""
    lines = [
        "# Operators of Streams",
        "",
        "<!-- Written by `bin/docs operators`; change `bin/documents/operators.py`, not this. -->",
        "",
        "Time runs to the right. A shape is a record: its colour is the key, its text the value.",
        "A test runs every picture. See also [Streams](streams.md#what-is-done-with-records).",
    ]
    for each in OPERATORS:
        picture = f"![{each.name}](pictures/{file_name(each)})"
        lines += ["", f"## {each.name}", "", each.about, "", picture]
    return "\n".join([*lines, ""])


def file_name(operator: Operator) -> str:
    """The picture's file below docs/pictures."""
    return f"operator-{operator.name.replace(' ', '-').replace('_', '-')}.svg"


def draw(operator: Operator) -> str:
    """The picture: a line for each topic, the code between."""
    last = max(mark.at for marks in operator.inputs.values() for mark in marks)
    width = max(_LEFT + (last + 2) * _STEP, 24 + int(7.4 * len(operator.code)))
    height = _TOP + (len(operator.inputs) + 2) * _ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        '<rect width="100%" height="100%" rx="8" fill="white"/>',
    ]
    y = _TOP
    for topic, marks in operator.inputs.items():
        parts += _line(topic, marks, y, width)
        y += _ROW
    parts.append(
        f'<rect x="12" y="{y - 20}" width="{width - 24}" height="36" rx="6" fill="{_BOX}"/>'
        f'<text x="{width / 2}" y="{y + 3}" text-anchor="middle" fill="{_TEXT}" '
        f'font-family="ui-monospace, Menlo, monospace" font-size="12">'
        f"{escape(operator.code)}</text>"
    )
    parts += _line("out", operator.output, y + _ROW, width)
    return "\n".join([*parts, "</svg>", ""])


def _line(topic: str, marks: list[Mark], y: int, width: int) -> Iterator[str]:
    yield (
        f'<text x="14" y="{y + 4}" fill="{_DIM}">{escape(topic)}</text>'
        f'<line x1="{_LEFT}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="{_DIM}"/>'
        f'<path d="M{width - 20} {y} l-8 -4 v8 z" fill="{_DIM}"/>'
    )
    taken: dict[int, int] = {}
    for mark in marks:
        # Records of one time stand beside each other.
        place = taken.get(mark.at, 0)
        taken[mark.at] = place + 1
        x = _LEFT + mark.at * _STEP + place * 44
        yield (
            f'<rect x="{x - 20}" y="{y - 15}" width="40" height="30" rx="15" '
            f'fill="{_COLOURS[mark.key]}"/><text x="{x}" y="{y + 4}" text-anchor="middle" '
            f'fill="white">{escape(mark.value or "null")}</text>'
        )
