"""Keeps the audit trail in a topic as well, as far as the cluster takes it."""

import asyncio
import logging
from collections.abc import Mapping

from moldau.client.admin.admin import Admin
from moldau.client.admin.topics import NewTopic
from moldau.client.producer.producer import Producer
from moldau.errors import KafkaError, TopicAlreadyExists

_log = logging.getLogger(__name__)

_WAITING_MAX = 10_000
_AGAIN_S = 2.0
_LAST_S = 3.0
_API_TIMEOUT_MS = 5000


class TrailTopic:
    """Lines on their way to a topic, which is created if needed; those that wait are bounded."""

    def __init__(self, settings: Mapping[str, object], topic: str) -> None:
        self._settings = {"client.id": "moldau-console", **settings}
        self._topic = topic
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_WAITING_MAX)

    def put(self, text: str) -> None:
        """A line, written when the cluster takes it."""
        try:
            self._waiting.put_nowait(text)
        except asyncio.QueueFull:
            _log.error("the audit topic takes nothing, so this is not in it: %s", text)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            try:
                await self._write()
            except (KafkaError, TimeoutError, OSError) as error:
                _log.warning("the audit topic %s: %s; trying again", self._topic, error)
                await asyncio.sleep(_AGAIN_S)

    async def close(self) -> None:
        """Return once all lines are written, or soon."""
        try:
            async with asyncio.timeout(_LAST_S):
                await self._waiting.join()
        except TimeoutError:
            _log.error("%d lines are not in the audit topic", self._waiting.qsize())

    async def _write(self) -> None:
        text = await self._waiting.get()
        try:
            await self._create()
            async with Producer[bytes, bytes](
                {**self._settings, "acks": "all", "delivery.timeout.ms": 60_000}
            ) as producer:
                while True:
                    await producer.send_and_wait(self._topic, text.encode())
                    self._waiting.task_done()
                    text = ""
                    text = await self._waiting.get()
        finally:
            if text:
                self._keep(text)

    def _keep(self, text: str) -> None:
        """What was not written waits again, behind those that came meanwhile: it has its time."""
        self._waiting.task_done()
        self.put(text)

    async def _create(self) -> None:
        async with Admin({**self._settings, "default.api.timeout.ms": _API_TIMEOUT_MS}) as admin:
            try:
                (await admin.create_topics([NewTopic(self._topic, partitions=1)])).check()
            except TopicAlreadyExists:
                return
