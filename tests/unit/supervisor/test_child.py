"""A broker as a process of its own; what is started here only behaves like one."""

import asyncio
import stat
import sys
from pathlib import Path

import pytest

from moldau.config.properties import decode_properties
from moldau.supervisor import child as children
from moldau.supervisor.child import Child, write_properties
from unit.waiting import until

# It stands for `python -m moldau serve FILE --until-input-ends`.
_PROGRAM = """\
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("metrics for Prometheus on http://localhost:1234/metrics", file=sys.stderr, flush=True)
print("[KafkaServer id=7] started", file=sys.stderr, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def ended() -> list[int]:
    return []


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: list[int]) -> Child:
    (tmp_path / "moldau.py").write_text(_PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(children.sys, "executable", sys.executable)  # type: ignore[attr-defined]
    return Child(7, tmp_path / "x.properties", [], ended.append)


async def test_it_is_known_when_it_is_up_and_it_stops_when_asked(
    broker: Child, ended: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    running = asyncio.create_task(broker.run())
    await asyncio.wait_for(broker.is_up.wait(), 20)
    assert broker.metrics_port == 1234
    await broker.stop()
    await asyncio.wait_for(running, 20)
    assert (ended, broker.restarts, broker.is_up.is_set()) == ([], 0, False)
    told = capfd.readouterr().err
    assert "[broker 7] [KafkaServer id=7] started" in told
    assert "metrics" not in told, "that port is the supervisor's alone"


async def test_one_that_dies_is_started_again_and_it_is_told_at_once(
    broker: Child, ended: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    running = asyncio.create_task(broker.run())
    await asyncio.wait_for(broker.is_up.wait(), 20)
    process = broker._process
    assert process is not None
    process.kill()
    await until(lambda: ended == [7])
    assert not broker.is_up.is_set()
    await asyncio.wait_for(broker.is_up.wait(), 20)
    assert broker.restarts == 1
    assert caplog.messages == ["broker 7 has ended by SIGKILL: it is started again in 0.2 s"]
    broker.kill()
    await asyncio.wait_for(running, 20)


def test_settings_are_for_this_user_alone_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.properties"
    texts = {"listeners": "PLAINTEXT://:1", "a.password": "x=y\\z #!"}
    write_properties(path, texts)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert decode_properties(path.read_bytes()) == texts
