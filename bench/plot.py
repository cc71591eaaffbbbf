"""Curves as SVG, with logarithmic axes: what grows in proportion is a straight line."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _MARGIN, _LEGEND = 460, 320, 48, 150
_COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8a5a9e", "#c77d0a", "#555555")


class Curve(NamedTuple):
    """What is drawn as one line."""

    name: str
    points: Sequence[tuple[float, float]]


def draw(titles: Sequence[str], charts: Sequence[Sequence[Curve]]) -> str:
    """One chart beside the other."""
    step = _WIDTH + _LEGEND
    size = f'width="{step * len(charts)}" height="{_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for index, (title, curves) in enumerate(zip(titles, charts, strict=True)):
        parts.append(f'<g transform="translate({index * step},0)">')
        parts += _chart(title, curves)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _chart(title: str, curves: Sequence[Curve]) -> list[str]:
    points = [(x, y) for curve in curves for x, y in curve.points if x > 0 and y > 0]
    across = _Axis([x for x, _ in points], _MARGIN, _WIDTH - 10)
    up = _Axis([y for _, y in points], _HEIGHT - _MARGIN, 30)
    parts = [f'<text x="{_MARGIN}" y="18" font-size="13">{escape(title)}</text>']
    for value, place in across.marks():
        parts.append(f'<path d="M{place:.0f} 30V{_HEIGHT - _MARGIN}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{place:.0f}" y="{_HEIGHT - 30}" text-anchor="middle">{value:,g}</text>'
        )
    for value, place in up.marks():
        parts.append(f'<path d="M{_MARGIN} {place:.0f}H{_WIDTH - 10}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{_MARGIN - 4}" y="{place + 4:.0f}" text-anchor="end">{value:,g}</text>'
        )
    for index, curve in enumerate(curves):
        colour = _COLOURS[index % len(_COLOURS)]
        places = [f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in curve.points if y > 0]
        line = f'points="{" ".join(places)}" stroke="{colour}"'
        parts.append(f'<polyline {line} fill="none" stroke-width="2"/>')
        y = 40 + 16 * index
        parts.append(f'<text x="{_WIDTH}" y="{y}" fill="{colour}">{escape(curve.name)}</text>')
    return parts


class _Axis:
    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low = floor(log10(min(values)))
        self._high = max(ceil(log10(max(values))), self._low + 1)
        self._start = start
        self._end = end

    def at(self, value: float) -> float:
        part = (log10(value) - self._low) / (self._high - self._low)
        return self._start + part * (self._end - self._start)

    def marks(self) -> list[tuple[float, float]]:
        """Powers of ten, and where they are."""
        return [(10.0**power, self.at(10.0**power)) for power in range(self._low, self._high + 1)]
