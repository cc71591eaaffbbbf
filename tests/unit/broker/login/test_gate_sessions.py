"""The gate in front of a broker, on real connections: logins that stay, are renewed and end."""

import asyncio
import base64

from moldau.broker.login.credentials import ScramCredentials
from moldau.broker.login.scram_login import ScramMechanism
from moldau.broker.login.token_rules import TokenOwners
from moldau.errors import ErrorCode
from moldau.protocol.messages.list_groups import ListGroupsRequest
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.security.principals import Principal
from moldau.security.scram import ScramClient
from unit.broker.login.gate_callers import (
    METADATA,
    ends_late,
    gate,
)
from unit.broker.login.logging_in import Word, authenticate, handshake, heard
from unit.broker.world import frame_of
from unit.waiting import LoopTime, until

SHA = "SCRAM-SHA-256"


async def test_after_a_login_both_are_answered_with_34_and_the_connection_stays() -> None:
    async with gate() as door:
        caller = await door.connect()
        await caller.log_in()
        again = await caller.ask(SaslHandshakeRequest(mechanism="WORD"), 1)
        assert (again.error_code, again.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])
        again = await caller.ask(SaslAuthenticateRequest(auth_bytes=b"anna"), 2)
        assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert again.error_message == (
            "SaslAuthenticate request received after successful authentication"
        )
        assert (await caller.ask(METADATA, 9)).brokers


async def test_a_login_is_renewed_on_the_open_connection() -> None:
    async with gate(Word(reauthentication_ms=5000)) as door:
        caller = await door.connect()
        assert (await caller.log_in()).session_lifetime_ms == 5000
        door.world.clock.time_ms += 6000
        assert (await caller.log_in()).session_lifetime_ms == 5000
        assert (await caller.ask(METADATA, 9)).brokers
        assert (door.counted("succeeded"), door.counted("renewed")) == (1, 1)


async def test_a_login_that_is_over_ends_the_connection_with_the_next_request() -> None:
    async with gate(Word(reauthentication_ms=5000)) as door:
        caller = await door.connect()
        await caller.log_in()
        door.world.clock.time_ms += 5001
        caller.send(frame_of(METADATA, 9))
        assert await caller.until_closed() == b""
        assert door.counted("expired") == 1


async def test_a_connection_lives_no_longer_than_the_token_that_it_came_with() -> None:
    async with gate(settings={"delegation.token.secret.key": "of all"}) as door:
        broker = door.world.broker
        anna = Principal("User", "anna")
        token = await broker.tokens.create(TokenOwners(anna, anna, []), 5000)
        find = ScramCredentials(broker.users, broker.tokens, b"key").find
        mechanisms = door.keeper.mechanisms
        assert isinstance(mechanisms, list)
        mechanisms[:] = [ScramMechanism(SHA, find, new_nonce=lambda: "server")]
        password = base64.b64encode(broker.tokens.hmac_of(token)).decode()
        client = ScramClient(SHA, token.token_id, password, "client", is_token=True)
        caller = await door.connect()
        await caller.ask(SaslHandshakeRequest(mechanism=SHA), 1)
        first = await caller.ask(SaslAuthenticateRequest(auth_bytes=client.begin()), 2)
        final = client.answer(first.auth_bytes)
        assert final is not None
        last = await caller.ask(SaslAuthenticateRequest(auth_bytes=final), 2)
        assert (last.error_code, last.session_lifetime_ms) == (0, 5000)
        assert (await caller.ask(METADATA, 9)).brokers
        assert door.clients[0].principal == anna
        door.world.clock.time_ms += 5001
        caller.send(frame_of(METADATA, 9))
        assert await caller.until_closed() == b""


async def test_a_renewal_that_fails_is_counted_apart(time: LoopTime) -> None:
    async with gate(Word(reauthentication_ms=5000)) as door:
        caller = await door.connect()
        await caller.log_in(b"admin")
        caller.send(handshake())
        await caller.receive()
        caller.send(authenticate(b"eve"))
        answer = heard(await ends_late(caller, time), SaslAuthenticateRequest, 2)
        assert answer.error_message == (
            "Cannot change principals during re-authentication from User.admin: User.eve"
        )
        assert (door.counted("failed"), door.counted("not_renewed")) == (0, 1)


async def test_a_client_that_does_not_log_in_in_time_is_hung_up_on(time: LoopTime) -> None:
    async with gate() as door:
        silent, known = await door.connect(), await door.connect()
        await known.log_in()
        await until(lambda: len(door.clients) == 2)
        closed = asyncio.create_task(silent.until_closed())
        time.jump(11)
        await time.until(closed.done)
        assert (await known.ask(METADATA, 9)).brokers


async def test_a_client_that_goes_while_its_failure_is_waited_out_leaves_nothing(
    time: LoopTime,
) -> None:
    async with gate() as door:
        caller = await door.connect()
        caller.send(handshake("GSSAPI"))
        await until(lambda: door.counted("failed") == 1)
        assert door.keeper.delays.waiting("10.1.1.1") == 1
        caller.writer.transport.abort()
        await until(lambda: door.keeper.delays.waiting("10.1.1.1") == 0)
        assert time.now_s() > 0


async def test_cve_2022_34917_a_small_frame_of_many_elements_takes_no_memory_before_a_login(
    time: LoopTime,
) -> None:
    async with gate(frame_size_max=524_288) as door:
        caller = await door.connect()
        caller.send(handshake())
        await caller.receive()
        # A compact array that says it has two thousand million elements.
        caller.send(bytes(frame_of(ListGroupsRequest(), 4)[:-2]) + b"\xff\xff\xff\xff\x07\x00")
        assert await ends_late(caller, time) == b""
