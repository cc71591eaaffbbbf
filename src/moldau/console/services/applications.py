"""Streams applications as pages show them: what their queries do, and how they are made."""

import math
import re

from moldau.console.services.rest import list_in, text_in

_LINE = re.compile(r'moldau_streams_(\w+)\{query="((?:[^"\\]|\\.)*)"\} (\S+)')
_ESCAPED = re.compile(r"\\(.)")
_KINDS = ("source", "sink", "state", "step")
_BOXES_MAX = 2000
_QUERIES_MAX = 1000
_PLACE_MAX = 1_000_000


def queries(metrics: str) -> list[dict[str, object]]:
    """Queries with their numbers, as the lines of metrics have them."""
    found: dict[str, dict[str, object]] = {}
    for line in metrics.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name = _ESCAPED.sub(_unescaped, match[2])
        if name not in found and len(found) >= _QUERIES_MAX:
            continue
        found.setdefault(name, {"name": name})[match[1]] = _number(match[3])
    return list(found.values())


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def drawing(found: object) -> dict[str, object] | None:
    """A topology to be drawn, with nothing in it but what is drawn; None if it is none."""
    boxes, size = list_in(found, "boxes"), list_in(found, "box")
    if not 0 < len(boxes) <= _BOXES_MAX or len(size) != 2 or not all(map(_is_place, size)):
        return None
    kept = [_box(each) for each in boxes]
    arrows = [
        each
        for each in list_in(found, "arrows")
        if isinstance(each, list)
        and len(each) == 2
        and all(_is_place(end) and end < len(kept) for end in each)
    ]
    return {"box": size, "boxes": kept, "arrows": arrows[: _BOXES_MAX * 4]}


def _box(found: object) -> dict[str, object]:
    place = found if isinstance(found, dict) else {}
    kind = text_in(found, "kind")
    return {
        **{name: place[name] if _is_place(place.get(name)) else 0 for name in ("x", "y")},
        "kind": kind if kind in _KINDS else "step",
        "lines": [str(each)[:200] for each in list_in(found, "lines")[:3]],
        "queries": [str(each) for each in list_in(found, "queries")[:_QUERIES_MAX]],
    }


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _PLACE_MAX
