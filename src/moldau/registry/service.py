"""A registry that runs: reads its topic, takes part in the election, answers and writes.

One write is decided, stored and taken in before the next is decided, so that each sees all
before it. Answers to questions come from memory at any time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from moldau.client.connection.refusal import why
from moldau.errors import KafkaError, MessageTooLarge
from moldau.registry.decisions import Decided, Decisions
from moldau.registry.failures import NotLeader, RegistryRefused
from moldau.registry.leadership import Leadership, leader_url
from moldau.registry.levels import CompatibilityLevel
from moldau.registry.resolution import Resolution
from moldau.registry.settings import Settings
from moldau.registry.subjects import Subjects
from moldau.registry.topic import Client, TopicReader, prepare_topic
from moldau.registry.writer import TopicWriter
from moldau.runtime.waiters import Waiters

_log = logging.getLogger(__name__)

_LARGE_BYTES = 20_000
"""From here on a schema takes longer than the event loop should be held up for."""
_RETRY_S = 1.0
_LEADER_S = 15.0
_IDLE_S = 60.0
_ROLE = "role"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class RegistryOptions:
    """What a registry is started with."""

    client: Client
    topic: str = "_schemas"
    group: str = "schema-registry"
    replication_factor: int | None = None
    level: CompatibilityLevel = CompatibilityLevel.BACKWARD


@dataclass(frozen=True, slots=True)
class StoredAnswer(Generic[Answer]):
    """An answer, and the offset that the next request has to have seen."""

    answer: Answer
    offset: int


class RegistryService:
    """Owns the state, and everybody who changes it."""

    def __init__(self, options: RegistryOptions, url: str) -> None:
        self.options = options
        self.url = url
        subjects = Subjects()
        self.decisions = Decisions(
            subjects, Resolution(subjects), Settings(subjects, options.level)
        )
        self._thinking = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._waiters = Waiters()
        client = options.client
        self.reader = TopicReader(client, options.topic, subjects, self._thinking)
        self._writer = TopicWriter(client, options.group, self.reader)
        self._leadership = Leadership(client, options.topic, options.group, url)
        self._leadership.changed = lambda: self._waiters.wake(_ROLE)

    @property
    def is_leader(self) -> bool:
        """Whether this one writes."""
        return self._writer.is_open

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything has been read when the block begins."""
        options = self.options
        await prepare_topic(options.client, options.topic, options.replication_factor)
        started = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            working = [
                tasks.create_task(self.reader.run(started.set)),
                tasks.create_task(self._leadership.run()),
                tasks.create_task(self._follow_elections()),
            ]
            try:
                await started.wait()
                _log.info("%d subjects were read", len(self.decisions.subjects.versions))
                yield
            finally:
                await self._writer.close()
                for each in working:
                    each.cancel()

    # Asking

    async def ask(self, look: Callable[[Decisions], Answer], size: int = 0) -> Answer:
        """What a look at the state finds; in a thread if what was sent is large."""
        if size < _LARGE_BYTES:
            return look(self.decisions)
        async with self._thinking:
            return await asyncio.to_thread(look, self.decisions)

    async def write(
        self, decide: Callable[[Decisions], Decided[Answer]], size: int = 0
    ) -> StoredAnswer[Answer]:
        """Decide, store what was decided, and answer; NotLeader if another one has to."""
        async with self._writing:
            if not self.is_leader:
                raise NotLeader("another registry leads, or none does at the moment")
            decided = await self.ask(decide, size)
            if not decided.records:
                return StoredAnswer(decided.answer, self.reader.applied_offset)
            try:
                offset = await self._writer.write(decided.records)
            except MessageTooLarge as error:
                message = f"Write failed because schema is too large: {error}"
                raise RegistryRefused(42209, message) from error
            except TimeoutError as error:
                raise RegistryRefused(50002, "the write timed out") from error
            except KafkaError as error:
                message = f"the write failed: {why(error)}"
                raise RegistryRefused(50001, message) from error
            finally:
                self._waiters.wake(_ROLE)
            return StoredAnswer(decided.answer, offset)

    async def leader(self) -> str | None:
        """The address of another one that leads; None if this one does."""
        deadline = asyncio.get_running_loop().time() + _LEADER_S
        while not self.is_leader:
            try:
                found = await leader_url(
                    self.options.client, self.options.group, self.options.topic
                )
            except KafkaError as error:
                raise RegistryRefused(50004, f"no leader is known: {why(error)}") from error
            if found is not None and found != self.url:
                return found
            if asyncio.get_running_loop().time() > deadline:
                raise NotLeader("no registry leads at the moment")
            await self._waiters.until(lambda: self.is_leader, keys=[_ROLE], timeout_s=_RETRY_S)
        return None

    # Leading

    async def _follow_elections(self) -> None:
        while True:
            await self._waiters.until(self._has_to_change, keys=[_ROLE], timeout_s=_IDLE_S)
            async with self._writing:
                if self._has_to_change():
                    await self._change_role()

    def _has_to_change(self) -> bool:
        wanted = self._leadership.is_chosen and not self.reader.failure
        return wanted != self.is_leader

    async def _change_role(self) -> None:
        if self.is_leader:
            await self._writer.close()
            _log.info("another registry leads from now on")
            return
        try:
            await self._writer.take_over()
            _log.info("this registry leads: %s", self.url)
        except (KafkaError, TimeoutError, RegistryRefused) as error:
            _log.warning("leading has failed and is tried again: %s", why(error))
            await asyncio.sleep(_RETRY_S)
        self._waiters.wake(_ROLE)
