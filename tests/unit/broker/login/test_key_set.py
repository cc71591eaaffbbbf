"""The keys of an identity provider over time."""

import asyncio
import os
from pathlib import Path

import pytest

from moldau.broker.login.bearer_settings import KeySource
from moldau.broker.login.key_set import KeySet
from moldau.errors import InvalidConfig
from unit.security.web_signing import EcIssuer, keys_of
from unit.waiting import LoopTime, until


def source(url: str) -> KeySource:
    return KeySource(
        url=url, refresh_ms=60_000, backoff_ms=100, backoff_max_ms=1000, timeout_ms=1000, trust={}
    )


async def test_keys_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a b.json"
    path.write_bytes(keys_of(EcIssuer(kid="one")))
    keys = KeySet(source(path.as_uri()))
    await keys.load()
    assert keys.find("one") is not None
    for unknown in ("two", None, 5, ["one"]):
        assert keys.find(unknown) is None


@pytest.mark.parametrize("data", [None, b"rubbish", b'{"keys":[]}'])
async def test_a_file_without_keys_stops_the_start(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "keys.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InvalidConfig, match=r"jwks\.endpoint\.url"):
        await KeySet(source(path.as_uri())).load()


async def test_a_server_that_is_not_there_may_come_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = KeySet(source("https://127.0.0.1:1/keys"))
    await keys.load()
    assert "Failed to read the keys" in caplog.text
    assert keys.find("one") is None


async def test_a_key_that_is_not_there_is_looked_for_but_not_for_every_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = LoopTime(monkeypatch)
    path = tmp_path / "keys.json"
    path.write_bytes(keys_of(EcIssuer(kid="one")))
    keys = KeySet(source(path.as_uri()))
    await keys.load()
    running = asyncio.create_task(keys.run())
    path.write_bytes(keys_of(EcIssuer(kid="two")))
    assert keys.find("two") is None
    begun_s = time.now_s()
    for _ in range(200):
        if keys.find("two") is not None:
            break
        time.jump(0.5)
        await asyncio.sleep(0)
        await until(lambda: True)
        for _ in range(50):
            await asyncio.sleep(0)
    await until(lambda: keys.find("two") is not None)
    assert time.now_s() - begun_s > 9
    assert keys.find("one") is None, "a key that is gone is not believed any more"
    running.cancel()


async def test_keys_are_kept_while_they_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    time = LoopTime(monkeypatch)
    path = tmp_path / "keys.json"
    path.write_bytes(keys_of(EcIssuer(kid="one")))
    keys = KeySet(source(path.as_uri()))
    await keys.load()
    os.unlink(path)
    running = asyncio.create_task(keys.run())
    await asyncio.sleep(0)
    time.jump(61)
    await until(lambda: "Failed to read the keys" in caplog.text)
    assert keys.find("one") is not None
    running.cancel()
