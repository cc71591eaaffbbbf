"""The naming rules find vague names and busy packages."""

from pathlib import Path

import pytest

from tidy import naming
from tidy.plant import places, plant

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "name", ["src/moldau/utils.py", "src/moldau/core/log.py", "tests/unit/test_helpers.py"]
)
def test_a_vague_file_is_found(tmp_path: Path, name: str) -> None:
    root = plant(tmp_path, {name: "", "src/moldau/commonly.py": ""})
    assert places(naming.vague_files, root) == [name]


def test_a_vague_class_is_found(tmp_path: Path) -> None:
    text = "class ReplicaManager: pass\nclass Manageable: pass\nclass LogImpl: pass"
    root = plant(tmp_path, {"src/moldau/log.py": text})
    expected = ["src/moldau/log.py:LogImpl", "src/moldau/log.py:ReplicaManager"]
    assert places(naming.vague_classes, root) == expected


def test_a_module_without_a_docstring_is_found(tmp_path: Path) -> None:
    files = {"src/moldau/log.py": "x = 1", "src/moldau/net.py": '"""Sockets."""'}
    assert places(naming.docstrings, plant(tmp_path, files)) == ["src/moldau/log.py"]


@pytest.mark.parametrize("statement", ["x = 1", "def f(): pass", "print()", "if 1: pass"])
def test_a_package_that_runs_code_is_found(tmp_path: Path, statement: str) -> None:
    root = plant(tmp_path, {"src/moldau/log/__init__.py": f'"""Logs."""\n{statement}'})
    assert places(naming.bare_packages, root) == ["src/moldau/log/__init__.py"]


def test_a_package_may_export(tmp_path: Path) -> None:
    text = '"""Logs."""\nfrom moldau.log.log import Log\n__all__ = ["Log"]\n__version__ = "1"'
    root = plant(tmp_path, {"src/moldau/log/__init__.py": text})
    assert places(naming.bare_packages, root) == []


def test_a_public_name_with_two_meanings_is_found(tmp_path: Path) -> None:
    files = {
        "src/moldau/log/parts.py": "class Segment: pass\nclass _Row: pass\nclass Log: pass",
        "src/moldau/net/parts.py": "class Segment: pass\nclass _Row: pass\nSegment2 = Segment",
        "src/moldau/net/inner.py": "def f():\n    class Log: pass",
    }
    root = plant(tmp_path, files)
    expected = ["src/moldau/log/parts.py:Segment", "src/moldau/net/parts.py:Segment"]
    assert places(naming.equal_class_names, root) == expected


def test_messages_are_named_as_kafka_names_them_and_some_names_are_shared(tmp_path: Path) -> None:
    messages = "class Topic: pass\nclass Consumer: pass"
    files = {
        "src/moldau/protocol/messages/fetch.py": messages,
        "src/moldau/protocol/messages/produce.py": messages,
        "src/moldau/client/consumer.py": "class Consumer: pass",
        "src/moldau/client/blocking/consumer.py": "class Consumer: pass",
    }
    assert places(naming.equal_class_names, plant(tmp_path, files)) == []


def test_shared_names_are_still_shared() -> None:
    classes = naming.public_classes(ROOT)
    assert [name for name in naming.SHARED_NAMES if len(classes.get(name, ())) < 2] == []
