"""Prometheus' text format, read by its letter: what breaks a rule of it is refused."""

import re
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? (\S+)")
_SUFFIXES = {"counter": ("",), "gauge": ("",), "summary": ("", "_sum", "_count")}


@dataclass(slots=True)
class Family:
    """One metric with all its samples, by name and labels as they are written."""

    about: str
    kind: str
    samples: dict[str, float] = field(default_factory=dict)


def families(text: str) -> dict[str, Family]:
    """All metrics of a page; AssertionError for what Prometheus could take amiss."""
    assert text.endswith("\n")
    found: dict[str, Family] = {}
    lines = iter(text.splitlines())
    name = ""
    for line in lines:
        if line.startswith("# HELP "):
            name, about = line.removeprefix("# HELP ").split(" ", 1)
            assert name not in found, f"{name} comes twice"
            mark, of, kind = next(lines).removeprefix("# ").split(" ")
            assert (mark, of) == ("TYPE", name)
            found[name] = Family(about, kind)
            continue
        match = _SAMPLE.fullmatch(line)
        assert match, line
        family = found[name]
        assert match[1] in {name + suffix for suffix in _SUFFIXES[family.kind]}, line
        assert (family.kind == "counter") == name.endswith("_total"), line
        series = line.rpartition(" ")[0]
        assert series not in family.samples, f"{series} comes twice"
        family.samples[series] = float(match[3])
    return found


def is_sentence(about: str) -> bool:
    """Whether it tells a reader something: several words, and a full stop."""
    return about[0].isupper() | about[0].isdigit() and about.endswith(".") and about.count(" ") >= 2
