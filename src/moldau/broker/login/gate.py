"""The gate of a SASL listener: lets a connection's requests through once its client is known."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from moldau.broker.context import Client
from moldau.broker.dispatch import Dispatcher
from moldau.broker.login.conversation import (
    Conversation,
    Ending,
    Exchange,
    HangUp,
    PassOn,
    Refuse,
    Say,
)
from moldau.broker.login.failure_delays import FailureDelays
from moldau.broker.login.identity import LoginExchange, Mechanism
from moldau.broker.login.login_counts import LoginCounts
from moldau.errors import KafkaError
from moldau.net.answer import CloseConnection, Outcome, Part
from moldau.runtime.clock import Clock, Moment
from moldau.runtime.file_range import FileRange
from moldau.security.principals import USER, Principal

if TYPE_CHECKING:
    from moldau.net.connection import Connection

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gatekeeper:
    """What the gates of one listener share."""

    mechanisms: Sequence[Mechanism]
    frame_size_max: int
    """`sasl.server.max.receive.size`"""
    delays: FailureDelays
    counts: LoginCounts
    clock: Clock


class Gate:
    """One connection's way in."""

    def __init__(
        self,
        keeper: Gatekeeper,
        dispatcher: Dispatcher,
        client: Client,
        connection: "Connection",
    ) -> None:
        self._keeper = keeper
        self._dispatcher = dispatcher
        self._client = client
        self._connection = connection
        self._conversation = Conversation(keeper.mechanisms)
        self._exchange: LoginExchange | None = None
        self._peer = connection.peer
        connection.restrict(keeper.frame_size_max, self._refuse_frame)
        if connection.unknown_since_s is None:  # TLS may have begun before
            connection.unknown_since_s = asyncio.get_running_loop().time()

    def respond(self, frame: memoryview) -> Outcome:
        """The answer to a request, or to a bare token."""
        step = self._conversation.receive(frame, Moment.of(self._keeper.clock))
        match step:
            case PassOn():
                return self._dispatcher.respond(self._client, frame)
            case Say():
                return self._say(step)
            case Exchange():
                return self._go_on(step.token)
            case Refuse():
                return self._refuse(frame, step.error)
            case HangUp():
                return self._hang_up(step)

    def _say(self, step: Say) -> list[Part]:
        if step.begins is not None:
            self._exchange = step.begins.begin()
        return [step.answer]

    async def _go_on(self, token: bytes) -> list[Part]:
        exchange, conversation = self._exchange, self._conversation
        assert exchange is not None, "it began with the handshake"
        was_known = conversation.identity is not None
        try:
            answer = await exchange.answer(token)
        except KafkaError as error:
            _log.debug("login of %s refused: %s", self._peer, error)
            step = conversation.failed(str(error) if exchange.shows_reasons else None)
        except Exception:  # noqa: BLE001 - the top frame of a login
            # Neither the traceback nor the error: what it was about may be in them.
            _log.error("Failed to authenticate %s: unexpected error", self._peer)
            step = conversation.failed(None)
        else:
            now = Moment.of(self._keeper.clock)
            step = conversation.exchanged(answer, exchange.identity, now)
        if isinstance(step, HangUp):
            await self._hang_up(step)
        assert isinstance(step, Say), "a token is answered"
        if conversation.is_open:
            self._open(was_known=was_known)
        return [step.answer]

    def _open(self, *, was_known: bool) -> None:
        conversation, client, counts = self._conversation, self._client, self._keeper.counts
        identity, self._exchange = conversation.identity, None
        assert identity is not None
        (counts.renewed if was_known else counts.succeeded).add()
        client.principal = Principal(USER, identity.user)
        client.is_by_token = identity.is_by_token
        # Without an end of the login there is nothing left to watch.
        is_watched = conversation.ends_at_ms is not None
        dispatch = self._dispatcher.respond
        self._connection.trust(self.respond if is_watched else partial(dispatch, client))

    async def _refuse(self, frame: memoryview, error: KafkaError) -> None:
        """Answer in the words of an API, though it may not be asked now."""
        words = b""
        try:
            answer = self._dispatcher.handle(self._client, frame, failure=error)
            parts = await answer if isinstance(answer, Coroutine) else answer
            if isinstance(parts, list):
                words = b"".join(part for part in parts if not isinstance(part, FileRange))
        except CloseConnection:
            pass  # it has no words for this
        await self._hang_up(HangUp(str(error), words))

    async def _refuse_frame(self) -> None:
        await self._hang_up(HangUp("a frame is larger than sasl.server.max.receive.size"))

    async def _hang_up(self, step: HangUp) -> NoReturn:
        counts, host = self._keeper.counts, self._client.host
        if step.ending is not Ending.FAILED:
            if step.ending is Ending.EXPIRED:
                counts.expired.add()
            raise CloseConnection(step.reason)
        is_renewal = self._conversation.identity is not None
        (counts.not_renewed if is_renewal else counts.failed).add()
        # The words that operators of Kafka look for.
        _log.info("Failed authentication with /%s (%s) (%s)", host, self._channel, step.reason)
        is_answered = await self._keeper.delays.wait(host)
        raise CloseConnection("", step.answer if is_answered else b"")

    @property
    def _channel(self) -> str:
        local = f"{self._client.local_host}:{self._client.local_port}"
        return f"channelId={local}-{self._peer}"
