"""Type checkers find nothing wrong with the documents, and see mistakes in the use of clients."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.clients.programs import node_program
from conformance.document_types import ROOT, WRONG, WRONG_LINES, write_modules

SETTINGS = """\
[mypy]
strict = true
allow_redefinition = true
local_partial_types = true
cache_dir = {cache}
mypy_path = {sources}
[mypy-moldau.*]
follow_imports = silent
[mypy-pyarrow.*,fastavro.*,google.protobuf.*,kazoo.*]
ignore_missing_imports = true
[mypy-confluent_kafka.*]
implicit_reexport = true
"""


def mypy(folder: Path, *modules: Path) -> list[str]:
    """What mypy --strict says of modules, line by line."""
    settings = folder / "mypy.ini"
    cache, sources = ROOT / ".mypy_cache" / "documents", ROOT / "src"
    settings.write_text(SETTINGS.format(cache=cache, sources=sources), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--no-error-summary"]
    command += map(str, modules)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def pyright(folder: Path, *modules: Path) -> list[str]:
    """What pyright in strict mode says of them."""
    settings = {
        "include": [str(module) for module in modules],
        "extraPaths": [str(ROOT / "src")],
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
        # Of packages that have no types nothing is known, and a document need not use all it has.
        "reportMissingTypeStubs": False,
        "reportUnknownMemberType": False,
        "reportUnknownVariableType": False,
        "reportUnknownArgumentType": False,
        "reportUnknownLambdaType": False,
        "reportUnusedImport": False,
        "reportUnusedVariable": False,
        "reportUnusedFunction": False,
        "reportUnusedClass": False,
        "reportUnusedExpression": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [*node_program("pyright", "node_modules/pyright/index.js"), "--outputjson"]
    command += ["--pythonpath", sys.executable, "--project", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found
        if each["severity"] == "error"
    ]


def wrong_lines(folder: Path, check: Callable[..., list[str]]) -> list[int]:
    module = folder / "wrong.py"
    module.write_text(WRONG, encoding="utf-8")
    found = [re.search(r"wrong\.py:(\d+)", line) for line in check(folder, module)]
    return sorted({int(each[1]) for each in found if each is not None})


def test_mypy_finds_nothing_wrong_with_the_documents(tmp_path: Path) -> None:
    assert mypy(tmp_path, *write_modules(tmp_path)) == []


def test_mypy_sees_misspelt_settings_and_misused_records(tmp_path: Path) -> None:
    assert wrong_lines(tmp_path, mypy) == WRONG_LINES


@pytest.mark.needs("node", "npm")
def test_pyright_finds_nothing_wrong_with_the_documents(tmp_path: Path) -> None:
    assert pyright(tmp_path, *write_modules(tmp_path)) == []


@pytest.mark.needs("node", "npm")
def test_pyright_sees_misspelt_settings_and_misused_records(tmp_path: Path) -> None:
    assert wrong_lines(tmp_path, pyright) == WRONG_LINES
