"""The connector of docs/connect.md: installed by its entry point, tested, and tried out."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.our_broker import SOURCES

PAGE = SOURCES.parent / "docs" / "connect.md"
_BLOCK = re.compile(r"^```(python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What the page has, as pip would install it."""
    _, _, page = PAGE.read_text(encoding="utf-8").partition("## A connector of your own")
    module, entry_point, test = (text for _, text in _BLOCK.findall(page))
    assert len(module.splitlines()) <= 45, "the page promises a short one"
    (tmp_path / "thermometer.py").write_text(module)
    (tmp_path / "test_thermometer.py").write_text(f"from thermometer import Thermometer\n{test}")
    metadata = tmp_path / "thermometer-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: thermometer\nVersion: 1\n")
    name, target = re.findall(r'^"(.+)" = "(.+)"$', entry_point, re.MULTILINE)[0]
    (metadata / "entry_points.txt").write_text(f"[moldau.connectors]\n{name} = {target}\n")
    return tmp_path


def run(package: Path, *arguments: str) -> str:
    """What Python prints, if it ends well."""
    found = subprocess.run(
        [sys.executable, *arguments],
        cwd=package,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(SOURCES)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_its_own_test_passes(package: Path) -> None:
    assert "1 passed" in run(package, "-m", "pytest", "-p", "no:cacheprovider", "-q")


def test_a_pipeline_finds_it_and_shows_what_it_reads(package: Path) -> None:
    (package / "rooms").mkdir()
    (package / "rooms" / "kitchen.json").write_text('{"celsius": 21.5}\n{"celsius": 22.0}\n')
    config = {
        "connector.class": "thermometer.Thermometer",
        "directory": str(package / "rooms"),
        "topic": "temperatures",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    worker = {"bootstrap.servers": "localhost:1", "key.converter": "StringConverter"}
    file = package / "pipeline.json"
    file.write_text(json.dumps({"worker": worker, "connectors": {"rooms": config}}))
    assert "no errors" in run(package, "-m", "moldau", "connect", "lint", str(file))
    said = run(package, "-m", "moldau", "connect", "run", str(file), "--dry-run")
    assert "rooms: source, 2 records; nothing is written" in said
    assert '{"room":"kitchen","celsius":21.5}' in said.replace(" ", "")
