"""Lines of the audit trail reach a topic, also after the cluster was away."""

import asyncio
import json
import logging
import urllib.request

import pytest

from moldau.console import audit_topic
from moldau.console.audit_topic import TrailTopic
from moldau.console.running import ConsoleOptions, running_console
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.web.server import Binding


def told(broker: EmbeddedBroker, topic: str, count: int) -> list[str]:
    records = broker.wait_for_records(topic, count)[0]
    return [each.value.decode() for each in records if each.value is not None]


async def test_looks_at_records_are_in_the_topic(broker: EmbeddedBroker) -> None:
    clusters = {"local": {"bootstrap.servers": broker.bootstrap_servers}}
    options = ConsoleOptions(clusters, Binding(0), audit_topic="audited")
    async with running_console(options) as url:
        path = f"{url}/api/clusters/local/topics/any/messages"
        await asyncio.to_thread(lambda: urllib.request.urlopen(path).read())
    (line,) = await asyncio.to_thread(told, broker, "audited", 1)
    noted = json.loads(line)
    assert (noted["actor"], noted["status"]) == ("anonymous", 200)
    assert noted["action"] == "GET /api/clusters/local/topics/any/messages"


async def test_lines_wait_for_a_cluster_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_topic, "_AGAIN_S", 0.01)
    monkeypatch.setattr(audit_topic, "_API_TIMEOUT_MS", 100)
    with running_broker() as broker:
        topic = TrailTopic({"bootstrap.servers": broker.bootstrap_servers}, "waited")
        await asyncio.to_thread(broker.stop)
        running = asyncio.create_task(topic.run())
        topic.put("one")
        topic.put("two")
        await asyncio.to_thread(broker.start)
        lines = await asyncio.to_thread(told, broker, "waited", 2)
        await topic.close()
        running.cancel()
    assert sorted(lines) == ["one", "two"]


def test_so_many_lines_wait_and_the_others_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_topic, "_WAITING_MAX", 1)
    topic = TrailTopic({"bootstrap.servers": "127.0.0.1:1"}, "full")
    topic.put("one")
    with caplog.at_level(logging.ERROR):
        topic.put("two")
    assert "two" in caplog.text


async def test_the_end_does_not_wait_for_a_cluster_that_is_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_topic, "_LAST_S", 0.01)
    topic = TrailTopic({"bootstrap.servers": "127.0.0.1:1"}, "away")
    topic.put("one")
    await topic.close()
    assert "1 lines are not in the audit topic" in caplog.text
