"""Sends the controller's requests: to each broker in order, independently of the others.

A request is sent until it is answered, or its broker has gone from the tree, or this broker
is no longer the controller: a broker that is registered has to receive everything.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable
from itertools import count

from moldau.controller.outbox import BrokerRequest, Outbox, Request
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse

_log = logging.getLogger(__name__)

# A broker that cannot do it just now gets the request again; one that fails at it may always
# do so, and must not be kept from what comes after.
_NOT_TAKEN = {ErrorCode.REQUEST_TIMED_OUT: sys.maxsize, ErrorCode.UNKNOWN_SERVER_ERROR: 5}

Send = Callable[[int, Request], Awaitable[object]]
"""Delivers a request to a broker and returns the response; OSError if there is none."""
Answered = Callable[[BrokerRequest, object], None]


class Senders:
    """One task for each broker, for one term of office."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        outbox: Outbox,
        send: Send,
        *,
        answered: Answered,
        retry_s: float = 0.1,
    ) -> None:
        self._tasks = tasks
        self._outbox = outbox
        self._send = send
        self._answered = answered
        self._retry_s = retry_s
        self._senders: dict[int, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._busy: dict[int, None] = {}
        self._is_idle = asyncio.Event()

    def go(self) -> None:
        """There may be requests to send."""
        for broker in self._outbox.waiting():
            if broker not in self._senders:
                has_requests = asyncio.Event()
                task = self._tasks.create_task(self._serve(broker, has_requests))
                self._senders[broker] = task, has_requests
            self._senders[broker][1].set()

    async def until_idle(self, *, timeout_s: float) -> bool:
        """Wait until everything is sent and answered, within a time; returns whether it is so."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._outbox.waiting() or self._busy:
                    self._is_idle.clear()
                    await self._is_idle.wait()
        except TimeoutError:
            return False
        return True

    def forget(self, brokers: Iterable[int]) -> None:
        """These brokers are gone, with what was on the way to them."""
        for broker in brokers:
            self._outbox.drop(broker)
            sender = self._senders.pop(broker, None)
            if sender is not None:
                sender[0].cancel()

    def stop(self) -> None:
        """The term of office is over: whatever is not sent yet is for the next controller."""
        self.forget(list(self._senders))

    async def _serve(self, broker: int, has_requests: asyncio.Event) -> None:
        while True:
            has_requests.clear()
            self._busy[broker] = None
            try:
                for request in self._outbox.requests(broker):
                    self._answered(request, await self._deliver(request))
            finally:
                del self._busy[broker]
                self._is_idle.set()
            await has_requests.wait()

    async def _deliver(self, request: BrokerRequest) -> object:
        what = type(request.message).__name__.removesuffix("Request")
        for attempt in count():
            try:
                answer = await self._send(*request)
            except OSError as error:
                reason = str(error)
            else:
                code = getattr(answer, "error_code", ErrorCode.NONE)
                if code not in _NOT_TAKEN or attempt >= _NOT_TAKEN[code]:
                    return answer
                reason = f"it answered {ErrorCode(code).name}"
            if attempt == 0:
                _log.warning("Failed to send %s to broker %d: %s", what, request.broker_id, reason)
            await asyncio.sleep(self._retry_s)
        raise AssertionError("counting does not end")


def errors_of(
    request: LeaderAndIsrRequest, answer: LeaderAndIsrResponse
) -> dict[TopicPartition, ErrorCode]:
    """What a broker says about each partition, by name or by the topic's id."""
    names = {topic.topic_id: topic.topic_name for topic in request.topic_states}
    by_name = {
        TopicPartition(one.topic_name, one.partition_index): ErrorCode(one.error_code)
        for one in answer.partition_errors
    }
    return by_name | {
        TopicPartition(names[topic.topic_id], one.partition_index): ErrorCode(one.error_code)
        for topic in answer.topics
        if topic.topic_id in names
        for one in topic.partition_errors
    }
