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

    @property
    def program(self) -> str:
        """The code as it can be run: lines of a picture go on without parentheses."""
        return f"({self.code})"


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
        "builder.stream('in').group_by_key().count().to_stream()\n"
        "    .map_values('cast(value as string)').to('out')",
        {"in": [Mark(1, "a", "x"), Mark(3, "b", "x"), Mark(6, "a", "x")]},
        [Mark(1, "a", "1"), Mark(3, "b", "1"), Mark(6, "a", "2")],
    ),
    Operator(
        "reduce",
        "Folds the values of each key into one, by a function. `aggregate` begins with a value of"
        " its own.",
        "builder.stream('in').group_by_key().reduce(lambda one, two: one + two)\n"
        "    .to_stream().to('out')",
        {"in": [Mark(1, "a", "x"), Mark(3, "b", "y"), Mark(6, "a", "z")]},
        [Mark(1, "a", "x"), Mark(3, "b", "y"), Mark(6, "a", "xz")],
    ),
    Operator(
        "count in windows",
        "Windows of one size, here 5 ms, one after the other. With `advance_by` they overlap."
        " A value here is the count, and where its window begins.",
        "builder.stream('in').group_by_key()\n"
        "    .windowed_by(TimeWindows.of_size_with_no_grace(5)).count().to_stream()\n"
        "    .map_values(\"concat(value, ' @', unix_millis(key.window.start))\")\n"
        "    .select_key('key.key').to('out')",
        {"in": [Mark(1, "a", "x"), Mark(3, "a", "x"), Mark(4, "b", "x"), Mark(6, "a", "x")]},
        [Mark(1, "a", "1 @0"), Mark(3, "a", "2 @0"), Mark(4, "b", "1 @0"), Mark(6, "a", "1 @5")],
    ),
    Operator(
        "count in sessions",
        "Records of a key belong together until none comes for the gap, here 3 ms. When a session"
        " grows, the table deletes what it had: the filter leaves these nulls out.",
        "builder.stream('in').group_by_key()\n"
        "    .windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(3)).count().to_stream()\n"
        "    .filter('value is not null')\n"
        "    .map_values(\"concat(value, ' @', unix_millis(key.window.start))\")\n"
        "    .select_key('key.key').to('out')",
        {"in": [Mark(1, "a", "x"), Mark(3, "a", "x"), Mark(8, "a", "x")]},
        [Mark(1, "a", "1 @1"), Mark(3, "a", "2 @1"), Mark(8, "a", "1 @8")],
    ),
    Operator(
        "stream join stream",
        "Pairs of records of one key within a window, here 3 ms either way.",
        "builder.stream('in').join(\n"
        "    builder.stream('more'), \"concat(left, '+', right)\",\n"
        "    JoinWindows.of_time_difference_with_no_grace(3)).to('out')",
        {"in": [Mark(2, "a", "1")], "more": [Mark(4, "a", "X"), Mark(9, "a", "Y")]},
        [Mark(4, "a", "1+X")],
    ),
    Operator(
        "table join table",
        "The rows of one key in both tables. Every change of either side is a change of the"
        " result.",
        "builder.table('left').join(builder.table('right'), \"concat(left, '+', right)\")\n"
        "    .to_stream().to('out')",
        {"left": [Mark(1, "a", "1"), Mark(5, "a", "2")], "right": [Mark(3, "a", "X")]},
        [Mark(3, "a", "1+X"), Mark(5, "a", "2+X")],
    ),
    Operator(
        "stream join table",
        "Each record of the stream gets the row that its key has at that time.",
        "builder.stream('in')\n"
        "    .join(builder.table('rows'), \"concat(left, '+', right)\").to('out')",
        {
            "rows": [Mark(1, "a", "X"), Mark(5, "a", "Y")],
            "in": [Mark(3, "a", "1"), Mark(7, "a", "2"), Mark(9, "b", "3")],
        },
        [Mark(3, "a", "1+X"), Mark(7, "a", "2+Y")],
    ),
)

_LEFT, _STEP, _ROW, _TOP = 70, 52, 56, 34
_LINE, _LETTER = 17, 7.4
_COLOURS = {"a": "#1b6ca8", "b": "#c2571a", "x": "#3a7d44", "y": "#7a4fa3"}
# Readers with a dark page see dark colours.
_STYLE = """<style>
.page { fill: #ffffff } .code { fill: #1f2933 } .box { fill: #eef2f6 } .topic { fill: #52606d }
.time { stroke: #667788 } .record { fill: #ffffff }
@media (prefers-color-scheme: dark) {
.page { fill: #10161d } .code { fill: #d7dee8 } .box { fill: #1d2733 } .topic { fill: #9aa7b4 }
.time { stroke: #9aa7b4 }
}
</style>"""


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
    code = operator.code.splitlines()
    width = max(_LEFT + (last + 2) * _STEP, 44 + int(_LETTER * max(map(len, code))))
    box = len(code) * _LINE + 16
    height = _TOP + (len(operator.inputs) + 1) * _ROW + box + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        _STYLE,
        '<rect width="100%" height="100%" rx="8" class="page"/>',
    ]
    y = _TOP
    for topic, marks in operator.inputs.items():
        parts += _line(topic, marks, y, width)
        y += _ROW
    parts.append(
        f'<rect x="12" y="{y - 20}" width="{width - 24}" height="{box}" rx="6" class="box"/>'
    )
    parts += [
        f'<text x="24" y="{y + number * _LINE}" class="code" xml:space="preserve" '
        f'font-family="ui-monospace, Menlo, monospace" font-size="12">{escape(line)}</text>'
        for number, line in enumerate(code)
    ]
    parts += _line("out", operator.output, y + box + 20, width)
    return "\n".join([*parts, "</svg>", ""])


def _line(topic: str, marks: list[Mark], y: int, width: int) -> Iterator[str]:
    yield (
        f'<text x="14" y="{y + 4}" class="topic">{escape(topic)}</text>'
        f'<line x1="{_LEFT}" y1="{y}" x2="{width - 20}" y2="{y}" class="time"/>'
        f'<path d="M{width - 20} {y} l-8 -4 v8 z" class="topic"/>'
    )
    taken: dict[int, int] = {}
    for mark in marks:
        # Records of one time stand beside each other.
        place = taken.get(mark.at, 0)
        taken[mark.at] = place + 1
        x = _LEFT + mark.at * _STEP + place * 44
        text = "null" if mark.value is None else mark.value
        half = max(20, 4 * len(text) + 6)
        yield (
            f'<rect x="{x - half}" y="{y - 15}" width="{2 * half}" height="30" rx="15" '
            f'fill="{_COLOURS[mark.key]}"/><text x="{x}" y="{y + 4}" text-anchor="middle" '
            f'class="record">{escape(text)}</text>'
        )
