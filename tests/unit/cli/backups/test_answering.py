"""The running broker's part in a backup."""

import asyncio
import json
from pathlib import Path

import pytest

from moldau.cli.backups import answering
from moldau.cli.backups.answering import ANSWER, REQUEST, answer_backup, answer_backups


async def copy_nothing(path: str) -> None:
    await asyncio.to_thread(Path(path).write_bytes, b"store")


def ask(directory: Path) -> None:
    (directory / "meta.properties").write_text("x")
    (directory / REQUEST).touch()


async def test_all_directories_are_frozen_and_named(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.mkdir()
        ask(path)
    await answer_backup([str(path) for path in paths], copy_nothing)
    answer = json.loads((paths[0] / ANSWER).read_text())
    sizes = {"meta.properties": 1}
    assert answer == {"directories": [[str(path), sizes] for path in paths]}
    assert (paths[0] / ".backup" / "moldau-store.sqlite").read_bytes() == b"store"
    assert not (paths[0] / REQUEST).exists()


async def test_what_fails_is_answered_and_the_broker_goes_on(tmp_path: Path) -> None:
    async def fail(path: str) -> None:
        raise OSError(28, "No space left on device", path)

    ask(tmp_path)
    await answer_backup([str(tmp_path)], fail)
    answer = json.loads((tmp_path / ANSWER).read_text())
    assert answer["error"].endswith("moldau-store.sqlite: No space left on device")
    await answer_backup([str(tmp_path)], fail)  # the request has gone: logged, not raised


async def test_requests_are_looked_for_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "POLL_S", 0.001)
    running = asyncio.create_task(answer_backups([str(tmp_path)], copy_nothing))
    for _ in range(2):
        ask(tmp_path)
        async with asyncio.timeout(10):
            while not (tmp_path / ANSWER).exists():
                await asyncio.sleep(0)
        (tmp_path / ANSWER).unlink()
    running.cancel()
