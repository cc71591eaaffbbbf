"""Brings each item to the broker that answers for it, again and elsewhere if that has moved."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from moldau.client.admin.outcomes import Outcomes
from moldau.client.admin.places import (
    GROUP,
    TRANSACTION,
    Anywhere,
    AtController,
    AtCoordinators,
    AtLeaders,
    ByNumber,
    Places,
)
from moldau.client.connection.cluster import Cluster
from moldau.client.settings import AdminSettings
from moldau.errors import ErrorCode, KafkaError, NetworkException

Key = TypeVar("Key")
Value = TypeVar("Value")
Response = TypeVar("Response")
Answers = Mapping[Key, Value | KafkaError]

# After these the same item may succeed, at the same broker or at another. An answer that did
# not come in time is not among them: the caller must know that what it created may be there.
WORTH_ANOTHER_TRY = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)


class Router:
    """Asks for items at their brokers until each has an outcome or the time is up."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.settings, AdminSettings)
        self.cluster = cluster
        self.settings: AdminSettings = cluster.settings
        self.groups = AtCoordinators(cluster, GROUP)
        self.transactions = AtCoordinators(cluster, TRANSACTION)
        self.leaders = AtLeaders(cluster)
        self.brokers = ByNumber(cluster)

    async def each(
        self,
        keys: Iterable[Key],
        places: Places[Key],
        ask: Callable[[int, list[Key]], Awaitable[Answers[Key, Value]]],
    ) -> Outcomes[Key, Value]:
        """Let `ask` ask a broker for its items; an answer that it leaves out is a failure."""
        wanted = list(dict.fromkeys(keys))
        found: dict[Key, Value | KafkaError] = {}
        deadline_s = self._deadline_s()
        retries_left = self.settings.retries
        while True:
            failed = await self._ask_once([key for key in wanted if key not in found], places, ask)
            found.update(failed)
            again = [key for key in wanted if _is_worth_another_try(found[key])]
            if not again or not retries_left or _now_s() >= deadline_s:
                return Outcomes({key: found[key] for key in wanted})
            retries_left -= 1
            for key in again:
                places.forget(key)
                del found[key]
            await self.cluster.back_off()

    async def one(
        self,
        key: Key,
        places: Places[Key],
        request: object,
        response: type[Response],
    ) -> Response:
        """The answer for a single item, whose error code stands at the top if it has one."""

        async def ask(node_id: int, keys: list[Key]) -> Answers[Key, Response]:
            answer = await self.cluster.ask(node_id, request, response)
            code = ErrorCode(getattr(answer, "error_code", 0))
            if code:
                return dict.fromkeys(keys, failure(code, getattr(answer, "error_message", None)))
            return dict.fromkeys(keys, answer)

        return (await self.each([key], places, ask))[key]

    async def anyone(self, request: object, response: type[Response]) -> Response:
        """The answer of whichever broker answers."""
        return await self.one("", Anywhere[str](self.cluster), request, response)

    async def controller(self, request: object, response: type[Response]) -> Response:
        """The answer of the controller."""
        return await self.one("", AtController[str](self.cluster), request, response)

    async def all_brokers(self) -> list[int]:
        """The brokers that there are now."""
        deadline_s = self._deadline_s()
        while True:
            try:
                await self.cluster.refresh()
                return sorted(self.cluster.metadata.brokers)
            except NetworkException as error:
                if not error.is_retriable or _now_s() >= deadline_s:
                    raise
            await self.cluster.back_off()

    def _deadline_s(self) -> float:
        return _now_s() + self.settings.default_api_timeout_ms / 1000

    async def _ask_once(
        self,
        keys: list[Key],
        places: Places[Key],
        ask: Callable[[int, list[Key]], Awaitable[Answers[Key, Value]]],
    ) -> dict[Key, Value | KafkaError]:
        found: dict[Key, Value | KafkaError] = {}
        by_broker: dict[int, list[Key]] = {}
        try:
            await places.look_up(keys)
        except KafkaError as error:
            return dict.fromkeys(keys, error)
        for key in keys:
            try:
                by_broker.setdefault(await places.find(key), []).append(key)
            except KafkaError as error:
                found[key] = error

        async def ask_broker(node_id: int, items: list[Key]) -> None:
            try:
                answers = await ask(node_id, items)
            except KafkaError as error:
                answers = dict.fromkeys(items, error)
            silence = failure(ErrorCode.UNKNOWN_SERVER_ERROR, "the broker said nothing about it")
            found.update({item: _named(item, answers.get(item, silence)) for item in items})

        async with asyncio.TaskGroup() as tasks:
            for node_id, items in by_broker.items():
                tasks.create_task(ask_broker(node_id, items))
        return found


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def failure(code: int, message: str | None = None) -> KafkaError:
    """The error in an answer."""
    error_code = ErrorCode(code)
    return KafkaError(error_code, message or error_code.name)


def outcome(code: int, value: Value, message: str | None = None) -> Value | KafkaError:
    """What an answer says of one item: its value, or its error if it has a code."""
    return failure(code, message) if code else value


def _named(item: object, found: Value | KafkaError) -> Value | KafkaError:
    """An error that says what it is about."""
    if isinstance(found, KafkaError) and found.message is None and str(item):
        return KafkaError(found.code, f"{item}: {found.code.name}")
    return found


def _is_worth_another_try(found: object) -> bool:
    if not isinstance(found, KafkaError):
        return False
    return found.is_retriable and found.code in WORTH_ANOTHER_TRY
