"""Evaluates the part of PromQL that our dashboard and alerts use, on two scrapes of a page.

Selectors with matchers, `rate` and `delta` over a range, `sum` and `max` with `by`, arithmetic,
comparisons, `and`, and matching `on` labels. Anything else is a SyntaxError: then this grows, or
the query is made simpler.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
Page = dict[str, Vector]

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_TOKEN = re.compile(
    r'\s*(\[\w+\]|\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|\w+|=~|!~|[=!<>]=|[-+*/(){},<>=])'
)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def read_page(text: str, **target: str) -> Page:
    """A scraped page; `target` is what Prometheus adds to each sample."""
    page: Page = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            found = _SAMPLE.match(line)
            assert found, line
            labels = dict(_LABEL.findall(found[2] or "")) | target
            page.setdefault(found[1], {})[frozenset(labels.items())] = float(found[3])
    return page


@dataclass(slots=True)
class Scrapes:
    """Two pages and the seconds between them."""

    before: Page
    now: Page
    seconds: float

    def evaluate(self, query: str) -> Vector:
        """The series that a query gives."""
        parser = _Parser(_TOKEN.findall(query), self)
        if "".join(parser.tokens).replace(" ", "") != re.sub(r"\s", "", query):
            raise SyntaxError(query)
        value = parser.conjunction()
        if parser.tokens[parser.at :]:
            raise SyntaxError(f"{parser.tokens[parser.at :]} in {query}")
        assert isinstance(value, dict)
        return value


@dataclass(slots=True)
class _Parser:
    tokens: list[str]
    scrapes: Scrapes
    at: int = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if expected and token not in expected:
            raise SyntaxError(f"{token!r} instead of {expected} in {' '.join(self.tokens)}")
        self.at += 1
        return token

    def conjunction(self) -> Vector | float:
        left = self.comparison()
        while self.peek() == "and":
            self.take()
            right = self.comparison()
            assert isinstance(left, dict)
            assert isinstance(right, dict)
            left = {labels: value for labels, value in left.items() if labels in right}
        return left

    def comparison(self) -> Vector | float:
        left = self.sum()
        if self.peek() in _COMPARISONS:
            compare = _COMPARISONS[self.take()]
            right = self.sum()
            assert isinstance(left, dict)
            assert isinstance(right, float)
            left = {labels: value for labels, value in left.items() if compare(value, right)}
        return left

    def sum(self) -> Vector | float:
        left = self.operand()
        while self.peek() in _ARITHMETIC:
            work = _ARITHMETIC[self.take()]
            on = self.matching()
            left = _joined(left, self.operand(), work, on)
        return left

    def matching(self) -> list[str] | None:
        if self.peek() != "on":
            return None
        self.take()
        on = self.names()
        self.take("group_right")
        assert self.names() == []
        return on

    def operand(self) -> Vector | float:
        token = self.take()
        if token[0].isdigit():
            return float(token)
        if token == "(":
            inside = self.conjunction()
            self.take(")")
            return inside
        if token in ("sum", "max"):
            return self.aggregated(sum if token == "sum" else max)
        if token in ("rate", "delta"):
            self.take("(")
            found = self.selected(self.take(), is_range=True)
            self.take(")")
            seconds = self.scrapes.seconds
            return {k: v / seconds for k, v in found.items()} if token == "rate" else found
        return self.selected(token, is_range=False)

    def aggregated(self, work: Callable[[list[float]], float]) -> Vector:
        by: list[str] = []
        if self.peek() == "by":
            self.take()
            by = self.names()
        self.take("(")
        inside = self.conjunction()
        self.take(")")
        assert isinstance(inside, dict)
        groups: dict[Labels, list[float]] = {}
        for labels, value in inside.items():
            groups.setdefault(_only(labels, by), []).append(value)
        return {labels: work(values) for labels, values in groups.items()}

    def names(self) -> list[str]:
        self.take("(")
        found = []
        while self.peek() != ")":
            found.append(self.take())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return found

    def selected(self, name: str, *, is_range: bool) -> Vector:
        matchers: list[Callable[[Mapping[str, str]], bool]] = []
        if self.peek() == "{":
            self.take()
            while self.peek() != "}":
                label, how, value = self.take(), self.take("=", "!=", "=~"), self.take().strip('"')
                matchers.append(_matcher(label, how, value))
                if self.peek() == ",":
                    self.take()
            self.take("}")
        now = {
            labels: value
            for labels, value in self.scrapes.now.get(name, {}).items()
            if all(matches(dict(labels)) for matches in matchers)
        }
        if not is_range:
            return now
        assert self.take().startswith("[")
        before = self.scrapes.before.get(name, {})
        return {labels: value - before[labels] for labels, value in now.items() if labels in before}


def _matcher(label: str, how: str, value: str) -> Callable[[Mapping[str, str]], bool]:
    if how == "=":
        return lambda labels: labels.get(label, "") == value
    if how == "!=":
        return lambda labels: labels.get(label, "") != value
    return lambda labels: re.fullmatch(value, labels.get(label, "")) is not None


def _only(labels: Labels, names: list[str]) -> Labels:
    return frozenset((name, value) for name, value in labels if name in names)


def _joined(
    left: Vector | float,
    right: Vector | float,
    work: Callable[[float, float], float],
    on: list[str] | None,
) -> Vector:
    assert isinstance(left, dict)
    if not isinstance(right, dict):
        return {labels: work(value, right) for labels, value in left.items()}
    if on is None:
        return {labels: work(left[labels], right[labels]) for labels in left.keys() & right.keys()}
    ones = {_only(labels, on): value for labels, value in left.items()}
    assert len(ones) == len(left), "Prometheus refuses several on the one side"
    return {
        labels: work(ones[_only(labels, on)], value)
        for labels, value in right.items()
        if _only(labels, on) in ones
    }
