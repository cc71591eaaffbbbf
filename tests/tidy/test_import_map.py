"""The import rules find what they forbid, and nothing else."""

from pathlib import Path

import pytest

from tidy import import_map
from tidy.plant import places, plant


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("runtime/disk.py", "from moldau.log.segment import Segment"),
        ("model.py", "import moldau.errors"),
        ("errors.py", "from moldau import records"),
        ("replication/fetcher.py", "from moldau.controller.election import elect"),
        ("log/log.py", "def late():\n    from moldau.broker.main import main"),
        ("client/consumer/consumer.py", "from moldau.broker.routes import ROUTES"),
        ("cli/topics.py", "from moldau.broker.main import main"),
    ],
)
def test_an_import_from_above_is_found(tmp_path: Path, importer: str, statement: str) -> None:
    root = plant(tmp_path, {f"src/moldau/{importer}": statement})
    assert places(import_map.layers, root) == [f"src/moldau/{importer}"]


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("log/log.py", "from moldau.records.batch import BatchHeader"),
        ("log/log.py", "from moldau.log.segment import Segment"),
        ("log/log.py", "import moldau"),
        ("cli/serve.py", "from moldau.broker.main import main"),
        ("broker/main.py", "from moldau import controller, coordinator, replication"),
    ],
)
def test_an_import_from_below_is_fine(tmp_path: Path, importer: str, statement: str) -> None:
    root = plant(tmp_path, {f"src/moldau/{importer}": statement})
    assert places(import_map.layers, root) == []


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("broker/requests/reads.py", "from moldau.broker.fast.fetch import parse"),
        ("broker/requests/reads.py", "from moldau.broker import handlers"),
        ("broker/handlers/fetch.py", "def late():\n    import moldau.broker.fast.fetch"),
        ("client/connection/opening.py", "from moldau.client.producer import sender"),
        ("streams/nodes/nodes.py", "from moldau.streams.compile.edges import source"),
    ],
)
def test_an_import_from_a_room_above_is_found(
    tmp_path: Path, importer: str, statement: str
) -> None:
    root = plant(tmp_path, {f"src/moldau/{importer}": statement})
    assert places(import_map.rooms, root) == [f"src/moldau/{importer}"]


@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("broker/fast/fetch.py", "from moldau.broker.requests.reads import read"),
        ("broker/requests/reads.py", "from moldau.broker.broker import Broker"),
        ("broker/main.py", "from moldau.broker.fast.shortcuts import Shortcuts"),
        ("client/lifetime.py", "from moldau.client import connection"),
        ("model.py", "import base64"),
    ],
)
def test_an_import_from_a_room_below_is_fine(tmp_path: Path, importer: str, statement: str) -> None:
    root = plant(tmp_path, {f"src/moldau/{importer}": statement})
    assert places(import_map.rooms, root) == []


def test_a_room_that_is_not_there_is_found(tmp_path: Path) -> None:
    here = {"compile", "run", "testing", "queries"}
    root = plant(tmp_path, {f"src/moldau/streams/{room}/a.py": "" for room in here})
    assert set(places(import_map.known_rooms, root)) == {"src/moldau/streams/nodes"}


def test_a_part_that_the_map_does_not_know_is_found(tmp_path: Path) -> None:
    root = plant(tmp_path, {"src/moldau/extras/one.py": "", "src/moldau/model.py": ""})
    assert places(import_map.known_parts, root) == ["src/moldau/extras"]


@pytest.mark.parametrize(
    ("importer", "package", "is_allowed"),
    [
        ("coordination/zookeeper.py", "kazoo.client", True),
        ("coordination/embedded.py", "kazoo.client", False),
        ("client/arrow.py", "pyarrow", True),
        ("client/consumer/consumer.py", "pyarrow", False),
        ("spark/source.py", "pyspark.sql", True),
        ("broker/main.py", "pyspark", False),
        ("records/lz4.py", "cramjam", True),
        ("log/log.py", "requests", False),
        ("log/log.py", "struct", True),
    ],
)
def test_packages_of_others_stay_in_their_module(
    tmp_path: Path, importer: str, package: str, is_allowed: bool
) -> None:
    root = plant(tmp_path, {f"src/moldau/{importer}": f"def late():\n    import {package}"})
    expected = [] if is_allowed else [f"src/moldau/{importer}"]
    assert places(import_map.third_party, root) == expected


@pytest.mark.parametrize("module", sorted(import_map.IMPURE_MODULES))
def test_a_machine_that_reaches_for_the_world_is_found(tmp_path: Path, module: str) -> None:
    text = f"import {module}"
    names = ("log/log", "log/service", "runtime/clock")
    root = plant(tmp_path, {f"src/moldau/{name}.py": text for name in names})
    assert places(import_map.purity, root) == ["src/moldau/log/log.py"]


def test_a_part_of_a_forbidden_module_is_forbidden(tmp_path: Path) -> None:
    root = plant(tmp_path, {"src/moldau/log/log.py": "from os.path import join"})
    assert places(import_map.purity, root) == ["src/moldau/log/log.py"]


@pytest.mark.parametrize("items", ["{1, 2}", "set(x)", "frozenset(x)", "{y for y in x}"])
def test_a_machine_that_iterates_over_a_set_is_found(tmp_path: Path, items: str) -> None:
    root = plant(tmp_path, {"src/moldau/log/log.py": f"x = [1]\nfor one in {items}:\n    pass"})
    assert places(import_map.purity, root) == ["src/moldau/log/log.py"]


def test_a_relative_import_is_found(tmp_path: Path) -> None:
    root = plant(tmp_path, {"src/moldau/log/log.py": "from . import segment"})
    assert places(import_map.absolute_imports, root) == ["src/moldau/log/log.py"]


def test_the_map_has_no_cycle_between_parts() -> None:
    remaining = {part: set(below) - {part} for part, below in import_map.MAY_IMPORT.items()}
    while remaining:
        lowest = [part for part, below in remaining.items() if not below & remaining.keys()]
        assert lowest, f"these import each other: {sorted(remaining)}"
        for part in lowest:
            del remaining[part]
