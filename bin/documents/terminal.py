"""A picture of a terminal, as SVG: a command and what it printed."""

import re
from xml.sax.saxutils import escape

_COLUMN, _LINE, _PADDING, _BAR = 8.4, 19, 18, 34
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_BACK, _TEXT, _DIM, _NUMBER, _PROMPT = "#0f1720", "#d7dee8", "#8794a5", "#7cc4ff", "#8ae08a"
_ROW = re.compile(r"\s+\d\d:\d\d:\d\d ")
_ROWS_SHOWN = 5
_HIGHLIGHT = re.compile(r"(\d(?:[\d,.:]*\d)?(?: ms| s)?|exactly once)")


def shortened(printed: str) -> str:
    """What is worth showing: of a long table its ends, and not what to do next."""
    lines = printed.partition("\nNext:")[0].splitlines()
    rows = [place for place, line in enumerate(lines) if _ROW.match(line)]
    hidden = rows[_ROWS_SHOWN:-1]
    kept = [line for place, line in enumerate(lines) if place not in hidden]
    if hidden:
        kept.insert(hidden[0], f"   ⋮ {len(hidden)} more windows")
    return "\n".join(kept)


def draw(command: str, printed: str, *, columns: int = 88) -> str:
    """The picture; longer lines are cut."""
    lines = [line.rstrip()[:columns] for line in printed.rstrip().splitlines()]
    width = columns * _COLUMN + 2 * _PADDING
    height = (len(lines) + 1) * _LINE + 2 * _PADDING + _BAR
    dots = "".join(
        f'<circle cx="{20 + 20 * place}" cy="17" r="6" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}"',
        f'width="{width:.0f}" height="{height}" font-family="{_FONT}" font-size="14">',
        f'<rect width="100%" height="100%" rx="10" fill="{_BACK}"/>{dots}',
        _text(0, f'<tspan fill="{_PROMPT}">$</tspan> {escape(command)}'),
        *(_text(row, _coloured(line)) for row, line in enumerate(lines, 1) if line),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _text(row: int, content: str) -> str:
    y = _BAR + _PADDING + row * _LINE
    return f'<text x="{_PADDING}" y="{y}" fill="{_TEXT}" xml:space="preserve">{content}</text>'


def _coloured(line: str) -> str:
    return "".join(
        f'<tspan fill="{_NUMBER}">{escape(part)}</tspan>' if place % 2 else escape(part)
        for place, part in enumerate(_HIGHLIGHT.split(line))
    )
