"""Where a module decides, and whether a run of it went both ways."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Arc = tuple[str, int, int]
"""A function by its qualified name, and two lines of it that ran one after the other."""
RETURNED = -1
# What only type checkers, the compiler of kernels and commands see.
NOT_RUN = ("TYPE_CHECKING", "cython.compiled", "__name__")


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition, a loop or a case of `match`, with the lines that run if it holds."""

    function: str
    text: str
    first_line: int
    last_line: int
    body_start: int
    body_end: int
    has_otherwise: bool  # not the last case of a `match`: type checkers say that it is one of them
    repetition: int = 0  # how often the function has had the same text before

    @property
    def ways(self) -> int:
        return 1 + self.has_otherwise

    def is_left_by(self, arc: Arc) -> bool:
        function, before, after = arc
        own = range(self.first_line, self.last_line + 1)
        return function == self.function and before in own and after not in own

    def holds_in(self, arc: Arc) -> bool:
        return self.body_start <= arc[2] <= self.body_end

    def missing(self, arcs: Iterable[Arc]) -> Iterator[str]:
        """Names of the ways that were not taken; they hold when lines are added above."""
        taken = {self.holds_in(arc) for arc in arcs if self.is_left_by(arc)}
        again = f" ({self.repetition + 1})" if self.repetition else ""
        name = f"{self.function or 'module'}: {self.text}{again}"
        if True not in taken:
            yield f"{name} -> yes"
        if False not in taken and self.has_otherwise:
            yield f"{name} -> no"


def decisions(source: str) -> list[Decision]:
    """All of a module, in the order of the text."""
    walk = _Walk()
    walk.visit(ast.parse(source))
    return walk.found


class _Walk(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Decision] = []
        self._seen: Counter[tuple[str, str]] = Counter()
        self._names: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._within([node.name], node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._within([node.name, "<locals>"], node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._within([node.name, "<locals>"], node.body)

    def visit_If(self, node: ast.If) -> None:
        if not ast.unparse(node.test).removeprefix("not ").startswith(NOT_RUN):
            self._add(f"if {ast.unparse(node.test)}", node.test, node.body)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._add(f"while {ast.unparse(node.test)}", node.test, node.body)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._add_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._add_loop(node)

    def visit_Match(self, node: ast.Match) -> None:
        for case in node.cases:
            guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
            text = f"case {ast.unparse(case.pattern)}{guard}"
            self._add(text, case.pattern, case.body, has_otherwise=case is not node.cases[-1])
        self.generic_visit(node)

    def _add_loop(self, node: ast.For | ast.AsyncFor) -> None:
        text = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        self._add(text, node, node.body)
        self.generic_visit(node)

    def _add(
        self,
        text: str,
        node: ast.stmt | ast.expr | ast.pattern,
        body: list[ast.stmt],
        *,
        has_otherwise: bool = True,
    ) -> None:
        function = ".".join(self._names).removesuffix(".<locals>")
        text = " ".join(text.split())
        start, end = body[0].lineno, body[-1].end_lineno
        assert end is not None
        again = self._seen[function, text]
        self._seen[function, text] += 1
        self.found.append(
            Decision(function, text, node.lineno, start - 1, start, end, has_otherwise, again)
        )

    def _within(self, names: list[str], body: list[ast.stmt]) -> None:
        self._names += names
        for statement in body:
            self.visit(statement)
        del self._names[-len(names) :]
