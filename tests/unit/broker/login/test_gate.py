"""The gate in front of a broker, on real connections: what passes, what ends, and when."""

import logging
from typing import Any

import pytest

from moldau.errors import ErrorCode
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.protocol.messages.list_groups import ListGroupsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.security.principals import ANONYMOUS, Principal
from unit.broker.login.gate_callers import (
    METADATA,
    VERSIONS,
    ends_late,
    gate,
)
from unit.broker.login.logging_in import Word, authenticate, handshake, heard
from unit.broker.world import frame_of
from unit.waiting import LoopTime


async def test_a_known_client_is_let_through_with_its_name() -> None:
    async with gate() as door:
        caller = await door.connect()
        assert (await caller.ask(VERSIONS, 3)).error_code == 0
        answer = await caller.log_in()
        assert (answer.error_code, answer.error_message, answer.auth_bytes) == (0, "", b"hello")
        assert (await caller.ask(METADATA, 9)).brokers
        assert door.clients[0].principal == Principal("User", "anna")
        assert door.counted("succeeded") == 1


async def test_a_client_from_before_1_0_sends_bare_tokens() -> None:
    async with gate() as door:
        caller = await door.connect()
        await caller.ask(SaslHandshakeRequest(mechanism="WORD"), 0)
        caller.send(b"more")
        assert await caller.receive() == b"\0\0\0\x04who?"
        caller.send(b"anna")
        assert await caller.receive() == b"\0\0\0\x05hello"
        assert (await caller.ask(METADATA, 9)).brokers


@pytest.mark.parametrize("frame", [frame_of(METADATA, 9), authenticate(b"anna")])
async def test_anything_else_first_ends_it_late_and_without_an_answer(
    frame: bytes, time: LoopTime
) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(frame)
        assert await ends_late(caller, time) == b""
        assert door.counted("failed") == 1
        assert door.clients[0].principal == ANONYMOUS


async def test_versions_asked_for_in_an_unknown_version_are_told_in_the_first() -> None:
    async with gate() as door:
        caller = await door.connect()
        frame = frame_of(VERSIONS, 3)
        frame[2:4] = (99).to_bytes(2, "big")
        caller.send(frame)
        answer: ApiVersionsResponse = heard(await caller.receive(), ApiVersionsRequest, 0)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert len(answer.api_keys) == 1
        assert (await caller.ask(VERSIONS, 3)).error_code == 0


async def test_versions_asked_for_twice_end_it_at_once() -> None:
    async with gate() as door:
        caller = await door.connect()
        await caller.ask(VERSIONS, 3)
        caller.send(frame_of(VERSIONS, 3))
        assert await caller.until_closed() == b""


async def test_an_unknown_mechanism_is_answered_late(time: LoopTime) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake("GSSAPI"))
        answer = heard(await ends_late(caller, time), SaslHandshakeRequest, 1)
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == ["WORD", "OTHER"]


async def test_another_request_during_the_exchange_gets_its_own_error(time: LoopTime) -> None:
    async with gate() as door:
        for request, version in ((VERSIONS, 3), (ListGroupsRequest(), 4)):
            caller = await door.connect()
            caller.send(handshake())
            await caller.receive()
            caller.send(frame_of(request, version))
            answer = heard(await ends_late(caller, time), type(request), version)
            assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        caller = await door.connect()
        caller.send(handshake())
        await caller.receive()
        caller.send(frame_of(MetadataRequest(topics=None), 9))
        empty: MetadataResponse = heard(await ends_late(caller, time), MetadataRequest, 9)
        assert (empty.brokers, empty.topics) == ([], [])


@pytest.mark.parametrize("size", [1001, -1, 2**31 - 1])
async def test_a_frame_that_is_too_large_ends_it_late(size: int, time: LoopTime) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.writer.write(size.to_bytes(4, "big", signed=True) + b"x" * 100)
        assert await ends_late(caller, time) == b""
        assert door.counted("failed") == 1


async def test_the_limit_of_frames_holds_until_the_login_alone() -> None:
    async with gate() as door:
        caller = await door.connect()
        await caller.log_in()
        names = [f"state-{number}" for number in range(500)]
        caller.send(frame_of(ListGroupsRequest(states_filter=names), 4))
        assert heard(await caller.receive(), ListGroupsRequest, 4).error_code == 0


async def test_a_failed_login_is_answered_late_and_counted(
    time: LoopTime, caplog: pytest.LogCaptureFixture
) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake())
        await caller.receive()
        with caplog.at_level(logging.INFO):
            caller.send(authenticate(b"wrong"))
            answer = heard(await ends_late(caller, time), SaslAuthenticateRequest, 2)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert answer.error_message == "the word is wrong"
        assert door.counted("failed") == 1
        (line,) = [one for one in caplog.messages if "Failed authentication" in one]
        assert line.startswith("Failed authentication with /10.1.1.1 (channelId=10.0.0.1:9093-")
        assert line.endswith("(the word is wrong)")


async def test_a_failure_after_version_0_ends_late_and_without_an_answer(time: LoopTime) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake(version=0))
        await caller.receive()
        caller.send(b"wrong")
        assert await ends_late(caller, time) == b""


async def test_a_reason_that_is_not_shown_is_replaced(time: LoopTime) -> None:
    silent = Word()
    silent.shows_reasons = False
    async with gate(silent) as door:
        for token in (b"wrong", b"broken"):
            caller = await door.connect()
            caller.send(handshake())
            await caller.receive()
            caller.send(authenticate(token))
            answer = heard(await ends_late(caller, time), SaslAuthenticateRequest, 2)
            assert answer.error_message.endswith("with SASL mechanism WORD")


async def test_a_login_that_breaks_shows_nothing_of_itself_in_the_log(
    time: LoopTime, caplog: pytest.LogCaptureFixture
) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake())
        await caller.receive()
        with caplog.at_level(logging.DEBUG):
            caller.send(authenticate(b"broken"))
            await ends_late(caller, time)
        assert "unexpected error" in caplog.text
        assert "broken" not in caplog.text


async def test_nothing_is_read_while_a_failure_is_waited_out(time: LoopTime) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake("GSSAPI"))
        caller.send(handshake())
        caller.send(authenticate(b"anna"))
        answer = await ends_late(caller, time)
        assert len(answer) == 4 + int.from_bytes(answer[:4], "big"), "one answer"
        assert door.clients[0].principal == ANONYMOUS
        assert door.counted("succeeded") == 0


async def test_a_request_that_is_sent_behind_a_login_runs_as_who_logged_in() -> None:
    async with gate() as door:
        caller = await door.connect()
        seen: list[Principal] = []
        key = facts_of(MetadataRequest).api_key
        assert key is not None

        def watched(handle: Any) -> Any:
            async def watching(request: Any, context: Any, broker: Any) -> Any:
                seen.append(context.client.principal)
                return await handle(request, context, broker)

            return watching

        door.world.dispatcher.wrap(key, watched)
        for frame in (handshake(), authenticate(b"anna"), frame_of(METADATA, 9)):
            caller.send(frame)
        for _ in range(3):
            await caller.receive()
        assert seen == [Principal("User", "anna")]
