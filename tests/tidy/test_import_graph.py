"""The rules about the whole graph find cycles, however they hide, and modules without use."""

from pathlib import Path

import pytest

from tidy.import_graph import import_cycles, unused_modules
from tidy.plant import places, plant

A, B, C = (f"src/moldau/log/{name}.py" for name in "abc")
LAZY = "def f():\n    import moldau.log.a\n"
TYPES = "if TYPE_CHECKING:\n    from moldau.log.a import A\nelse:\n    A = object\n"
PACKAGE = {"src/moldau/log/__init__.py": ""}


@pytest.mark.parametrize(
    "back",
    ["import moldau.log.a", "from moldau.log.a import A", "from moldau.log import a", LAZY],
    ids=["import", "from", "from the package", "lazily"],
)
def test_modules_that_import_each_other_are_found(tmp_path: Path, back: str) -> None:
    root = plant(tmp_path, {**PACKAGE, A: "from moldau.log.b import B", B: back})
    (found,) = import_cycles(root)
    assert found.detail == "moldau.log.a -> moldau.log.b -> moldau.log.a"
    assert found.place == A


def test_cycles_are_found_across_modules(tmp_path: Path) -> None:
    files = {A: "import moldau.log.b", B: "import moldau.log.c", C: "import moldau.log.a"}
    (found,) = import_cycles(plant(tmp_path, files))
    assert found.detail == "moldau.log.a -> moldau.log.b -> moldau.log.c -> moldau.log.a"
    both = {**files, C: "import moldau.log.a\nimport moldau.log.b"}
    assert places(import_cycles, plant(tmp_path, both)) == [A, B]


@pytest.mark.parametrize("text", [TYPES, "from moldau.log import missing", "import os", ""])
def test_what_does_not_run_is_no_cycle(tmp_path: Path, text: str) -> None:
    root = plant(tmp_path, {**PACKAGE, A: "from moldau.log import b", B: text})
    assert places(import_cycles, root) == []


def test_the_other_branch_of_a_type_check_runs(tmp_path: Path) -> None:
    text = "if TYPE_CHECKING:\n    pass\nelse:\n    import moldau.log.a\n"
    root = plant(tmp_path, {A: "import moldau.log.b", B: text})
    assert places(import_cycles, root) == [A]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (B, "from moldau.log.a import A"),
        (B, "from moldau.log import a"),
        (B, "from moldau.log import (\n    c,\n    a,\n)"),
        (B, 'native.kernel("moldau.log._a", "moldau.log.a")'),
        ("bin/tool", "import moldau.log.a"),
        ("examples/use.py", "import moldau.log.a"),
        ("docs/log.md", "`moldau.log.a.A` is yours to use"),
        ("pyproject.toml", 'plugin = "moldau.log.a"'),
    ],
)
def test_what_is_imported_or_named_is_used(tmp_path: Path, file: str, text: str) -> None:
    root = plant(tmp_path, {A: "", file: text})
    assert A not in places(unused_modules, root)


def test_a_module_that_only_tests_import_is_found(tmp_path: Path) -> None:
    tests = {
        "tests/unit/log/test_a.py": "from moldau.log.a import A",
        "tests/unit/testing/test_disk.py": "from moldau.testing.disk import MemoryDisk",
    }
    itself = '"""See moldau.log.a."""'
    root = plant(tmp_path, {**PACKAGE, A: itself, "src/moldau/testing/disk.py": "", **tests})
    assert places(unused_modules, root) == [A]


def test_commands_and_messages_are_found_by_their_files(tmp_path: Path) -> None:
    part = "src/moldau/cli/groups/part.py"
    found_by_file = ("src/moldau/cli/topics.py", "src/moldau/protocol/messages/fetch.py")
    root = plant(tmp_path, dict.fromkeys((*found_by_file, part), ""))
    assert places(unused_modules, root) == [part]
