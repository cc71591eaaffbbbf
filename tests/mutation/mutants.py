"""The small changes that may be made to a module, one at a time."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

Operator = TypeVar("Operator", ast.cmpop, ast.operator)

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
OTHER_CODE = "UNKNOWN_SERVER_ERROR"  # which no rule of a broker names
LOGGERS = {"_log", "log", "logger", "logging", "warnings"}
DECLARATIONS = {"__slots__", "__all__", "_log"}
FOR_PEOPLE = {"__repr__", "__str__"}
# Not the program's own conditions: what type checkers and the compiler of kernels see.
NOT_RUN = {"TYPE_CHECKING", "cython"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change, by its place in the list of all that the module allows."""

    index: int
    function: str  # the qualified name of the outermost function around it; empty outside of all
    first_line: int  # of the statement, which is what tests are seen to run
    last_line: int
    before: str
    after: str
    repetition: int  # how often the function has had the same change before

    @property
    def key(self) -> str:
        """A name that holds when lines are added above."""
        again = f" ({self.repetition + 1})" if self.repetition else ""
        return f"{self.function or 'module'}: {self.before} -> {self.after}{again}"


@dataclass(slots=True)
class _Site:
    old: ast.AST
    new: ast.AST
    function: str
    first_line: int


def mutants(source: str) -> list[Mutant]:
    """All changes to the module, in the order of the text."""
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for index, site in enumerate(_sites(ast.parse(source))):
        before, after = (" ".join(ast.unparse(node).split()) for node in (site.old, site.new))
        change = (site.function, before, after)
        last_line = getattr(site.old, "end_lineno", site.first_line)
        found.append(
            Mutant(index, site.function, site.first_line, last_line, before, after, seen[change])
        )
        seen[change] += 1
    return found


def mutated(source: str, index: int) -> ast.Module:
    """The module with one change in it."""
    tree = ast.parse(source)
    site = _sites(tree)[index]
    changed = _Replacement(site).visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


class _Replacement(ast.NodeTransformer):
    def __init__(self, site: _Site) -> None:
        self._site = site

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._site.old:
            return ast.copy_location(self._site.new, node)
        changed: ast.AST = self.generic_visit(node)
        return changed


def _sites(tree: ast.Module) -> list[_Site]:
    walk = _Walk()
    walk.visit(tree)
    return walk.sites


class _Walk(ast.NodeVisitor):
    """Goes through a module and notes what can be changed."""

    def __init__(self) -> None:
        self.sites: list[_Site] = []
        self._names: list[str] = []
        self._function = ""
        self._first_line = 1
        self._conditions: set[ast.AST] = set()  # whole ones: `not` says the same as `!=`
        self._last: set[ast.AST] = set()  # statements of functions: their results are looked at

    def visit(self, node: ast.AST) -> None:
        if _is_noise(node):
            return
        if isinstance(node, ast.stmt):
            self._first_line = node.lineno
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            self._conditions.add(node.test)
        if isinstance(node, ast.comprehension):
            self._conditions.update(node.ifs)
        if isinstance(node, ast.match_case) and node.guard:
            self._conditions.add(node.guard)
        for new in self._replacements(node):
            self.sites.append(_Site(node, new, self._function, self._first_line))
        super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._names.append(node.name)
        self._last.add(node.body[-1])
        outer = self._function
        self._function = outer or ".".join(self._names)
        for statement in node.body:
            self.visit(statement)
        self._function = outer
        self._names.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as ast names it

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def _replacements(self, node: ast.AST) -> Iterator[ast.AST]:
        if node in self._conditions:
            assert isinstance(node, ast.expr)
            yield ast.UnaryOp(ast.Not(), node)
        if isinstance(node, ast.stmt):
            if _is_droppable(node) and not (isinstance(node, ast.Return) and node in self._last):
                yield ast.Pass()
            if isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
                yield ast.AugAssign(node.target, _swapped(node.op), node.value)
        else:
            yield from self._expressions(node)

    def _expressions(self, node: ast.AST) -> Iterator[ast.AST]:
        match node:
            case ast.BoolOp(op, values):
                for left_out in values:
                    rest = [value for value in values if value is not left_out]
                    yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
            case ast.UnaryOp(ast.Not(), operand) if node not in self._conditions:
                yield operand
            case ast.Compare(left, operators, right):
                for at, operator in enumerate(operators):
                    if isinstance(operator, BOUNDARIES) or node not in self._conditions:
                        swapped = [*operators[:at], _swapped(operator), *operators[at + 1 :]]
                        yield ast.Compare(left, swapped, right)
            case ast.BinOp(left, operator, right) if self._function and type(operator) in SWAPPED:
                yield ast.BinOp(left, _swapped(operator), right)
            case ast.Call(ast.Name(name), arguments, keywords) if name in OPPOSITES:
                yield ast.Call(ast.Name(OPPOSITES[name], ast.Load()), arguments, keywords)
            case ast.Attribute(ast.Name("ErrorCode") as owner, name) if name != OTHER_CODE:
                yield ast.Attribute(owner, OTHER_CODE, ast.Load())
            case ast.Constant(bool(value)) if node not in self._conditions:
                yield ast.Constant(not value)
            case ast.Constant(int(value)) if not isinstance(value, bool):
                yield ast.Constant(value + 1)


def _swapped(operator: Operator) -> Operator:
    swapped = SWAPPED[type(operator)]()
    assert isinstance(swapped, ast.cmpop | ast.operator)
    return swapped  # type: ignore[return-value]  # comparisons have comparisons beside them


def _is_droppable(node: ast.stmt) -> bool:
    """Whether a module without it is still one, that does less."""
    match node:
        case ast.Raise() | ast.Return() | ast.Continue() | ast.Break() | ast.Delete():
            return True
        case ast.AugAssign():
            return True
        case ast.Expr(ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()):
            return True
        case ast.Assign(targets):
            # Without a local variable the next line fails; that shows nothing.
            return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
    return False


def _is_noise(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(ast.Call(called)):
            return _root(called) in LOGGERS
        case ast.Assign([ast.Name(name)]):
            return name in DECLARATIONS
        case ast.If(test):
            return _root(test) in NOT_RUN
        case ast.FunctionDef(name):
            return name in FOR_PEOPLE
    return False


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
