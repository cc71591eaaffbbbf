"""What the documents and examples about the clients show, works."""

import ast
import asyncio
import re
import subprocess
import sys
from inspect import CO_COROUTINE
from pathlib import Path

import pytest

from moldau.testing.broker import EmbeddedBroker

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVERS = "localhost:9092"


@pytest.fixture
def kafka_settings() -> dict[str, str]:
    return {"group.initial.rebalance.delay.ms": "0"}


async def test_every_block_about_the_clients_runs(kafka: EmbeddedBroker) -> None:
    text = (ROOT / "docs" / "clients.md").read_text()
    names: dict[str, object] = {"asyncio": asyncio}
    run_count = 0
    for match in BLOCK.finditer(text):
        source = match[2].replace(SERVERS, kafka.bootstrap_servers)
        code = compile(source, "clients.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if match[1] == "py":
            continue  # needs a protected cluster
        result = eval(code, names)
        if code.co_flags & CO_COROUTINE:
            async with asyncio.timeout(60):
                await result
        run_count += 1
    assert run_count > 8


@pytest.mark.parametrize("example", ["exactly_once.py", "cluster_report.py"])
def test_every_example_runs(kafka: EmbeddedBroker, example: str) -> None:
    command = [sys.executable, str(ROOT / "examples" / example), kafka.bootstrap_servers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
