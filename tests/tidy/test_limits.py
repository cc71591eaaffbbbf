"""The limits hold at their edge."""

from pathlib import Path

from tidy import limits
from tidy.plant import places, plant


def function(lines: int, docstring: str = "") -> str:
    head = ["def work():", *([docstring] if docstring else [])]
    return "\n".join([*head, *(["    pass"] * (lines - 1))])


def test_a_function_of_fifty_one_lines_is_found(tmp_path: Path) -> None:
    files = {"src/moldau/short.py": function(50), "src/moldau/long.py": function(51)}
    root = plant(tmp_path, files)
    assert places(limits.function_lines, root) == ["src/moldau/long.py:work"]


def test_a_docstring_does_not_make_a_function_long(tmp_path: Path) -> None:
    text = function(50, docstring='    """One.\n\n    Two.\n    """')
    root = plant(tmp_path, {"src/moldau/short.py": text})
    assert places(limits.function_lines, root) == []


def test_a_method_is_named_with_its_class(tmp_path: Path) -> None:
    method = function(51).replace("\n", "\n    ")
    root = plant(tmp_path, {"src/moldau/long.py": f"class Log:\n    {method}"})
    assert places(limits.function_lines, root) == ["src/moldau/long.py:Log.work"]


def test_a_module_of_401_lines_is_found(tmp_path: Path) -> None:
    files = {"tests/unit/test_short.py": "\n" * 400, "tests/unit/test_long.py": "\n" * 401}
    assert places(limits.module_lines, plant(tmp_path, files)) == ["tests/unit/test_long.py"]


def test_a_line_of_101_columns_is_found(tmp_path: Path) -> None:
    files = {"src/moldau/short.py": "#" * 100, "src/moldau/long.c": "/" * 101}
    assert places(limits.columns, plant(tmp_path, files)) == ["src/moldau/long.c"]


def test_a_sixth_parameter_is_found_whatever_its_kind(tmp_path: Path) -> None:
    files = {
        "src/moldau/five.py": "def work(self, a, b, /, c, *, d, e): pass",
        "src/moldau/six.py": "def work(a, b, /, c, *, d, e, f): pass",
        "src/moldau/rest.py": "def work(a, b, c, d, *e, **f): pass",
        "tests/unit/test_six.py": "def test_it(a, b, c, d, e, f): pass",
    }
    found = places(limits.parameters, plant(tmp_path, files))
    assert found == ["src/moldau/rest.py:work", "src/moldau/six.py:work"]
