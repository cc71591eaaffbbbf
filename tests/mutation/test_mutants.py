"""The changes that are made to a module, and those that are not."""

import ast

import pytest

from mutation.mutants import mutants, mutated


def changes(body: str) -> list[str]:
    """What may be changed in a function with this body."""
    source = "def rule(a, b, c):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return [f"{found.before} -> {found.after}" for found in mutants(source)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a.b = c\na.b()", ["a.b = c -> pass", "a.b() -> pass"]),
        ("if a:\n    return b\nreturn c", ["a -> not a", "return b -> pass"]),
        ("while a:\n    raise b", ["a -> not a", "raise b -> pass"]),
        ("return a < b", ["a < b -> a <= b"]),
        ("return a if b >= c else c", ["b >= c -> not b >= c", "b >= c -> b > c"]),
        ("return a == b", ["a == b -> a != b"]),
        ("return b if a == b else c", ["a == b -> not a == b"]),
        ("return a and b", ["a and b -> b", "a and b -> a"]),
        (
            "return a or b or c",
            ["a or b or c -> b or c", "a or b or c -> a or c", "a or b or c -> a or b"],
        ),
        ("return not a", ["not a -> a"]),
        ("return [x for x in a if b]", ["b -> not b"]),
        ("return a + 1", ["a + 1 -> a - 1", "1 -> 2"]),
        ("a += b\nreturn a", ["a += b -> pass", "a += b -> a -= b"]),
        ("return False", ["False -> True"]),
        ("return min(a, b)", ["min(a, b) -> max(a, b)"]),
        ("return ErrorCode.NOT_LEADER", ["ErrorCode.NOT_LEADER -> ErrorCode.UNKNOWN_SERVER_ERROR"]),
        ("match a:\n    case b if c:\n        return b", ["c -> not c", "return b -> pass"]),
    ],
)
def test_a_rule_is_changed(body: str, expected: list[str]) -> None:
    assert changes(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        '"""A docstring."""',
        "_log.warning('%d', a + 1)",
        "assert a > 1",
        "x = a\nreturn x",
        "raise_ = f'{a + 1}'",
        "x: list[1] = a",
    ],
)
def test_what_decides_nothing_is_left_alone(body: str) -> None:
    assert changes(body) == []


def test_declarations_are_left_alone() -> None:
    source = (
        "if TYPE_CHECKING:\n    import x\n"
        "@dataclass(slots=True)\nclass A:\n    __slots__ = (1,)\n    b: int\n"
        "    def __repr__(self):\n        return 1 + 2\n"
    )
    assert mutants(source) == []


def test_a_change_names_its_outermost_function_and_lines() -> None:
    source = (
        "class A:\n    def b(self):\n        def c():\n            return (\n              1)\n"
    )
    (found,) = mutants(source)
    assert (found.function, found.first_line, found.last_line) == ("A.b", 4, 5)
    assert found.key == "A.b: 1 -> 2"


def test_defaults_belong_to_no_function() -> None:
    (found,) = mutants("def a(b=1):\n    return b\n")
    assert found.key == "module: 1 -> 2"


def test_equal_changes_have_different_names() -> None:
    source = "def a(b):\n    b.c()\n    b.c()\n"
    assert [found.key for found in mutants(source)] == [
        "a: b.c() -> pass",
        "a: b.c() -> pass (2)",
    ]


def test_one_change_is_made_at_a_time() -> None:
    source = "def a(b):\n    if b > 1:\n        return 2\n    return 3"
    texts = [ast.unparse(mutated(source, found.index)) for found in mutants(source)]
    assert len(set(texts)) == len(texts) == 6
    assert texts[0] == source.replace("b > 1", "not b > 1")
    assert texts[-1] == source.replace("3", "4")
