"""What someone without a password could try, with the mechanisms of a running broker."""

import base64
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import groupby
from types import FrameType

import pytest

from moldau.broker.login.identity import LoginExchange, Mechanism
from moldau.broker.login.logins import make_logins
from moldau.broker.login.users import SecretChange
from moldau.config.broker.startup import read_startup
from moldau.errors import SaslAuthenticationFailed
from moldau.runtime.random import SystemRandom
from moldau.security.scram import ScramClient, ScramSecret
from unit.broker.login.secured import ANNA, ANNA_PASSWORD, TOKEN_SECRET, settings
from unit.broker.world import broker_world

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
ITERATIONS = 8192


@asynccontextmanager
async def mechanisms() -> AsyncIterator[dict[str, Mechanism]]:
    """Those of a broker that Anna has passwords at."""
    async with broker_world({"delegation.token.secret.key": TOKEN_SECRET}) as world:
        for name in SCRAM:
            secret = ScramSecret.of_password(
                name, ANNA_PASSWORD, salt=b"0123456789abcdefghijklmno", iterations=ITERATIONS
            )
            await world.broker.users.alter(ANNA, [SecretChange(name, secret)])
        startup = read_startup(settings())
        logins = await make_logins(world.broker, startup, world.tree, SystemRandom())
        (keeper,) = logins.gatekeepers.values()
        yield {one.name: one for one in keeper.mechanisms}


@pytest.mark.parametrize("name", SCRAM)
async def test_cve_2024_56128_who_has_heard_a_login_cannot_repeat_it(name: str) -> None:
    async with mechanisms() as found:
        exchange = found[name].begin()
        client = ScramClient(name, ANNA, ANNA_PASSWORD, "of-the-client")
        first = client.begin()
        final = client.answer(await exchange.answer(first))
        assert final is not None
        await exchange.answer(final)
        assert exchange.identity is not None
        again = found[name].begin()
        await again.answer(first)
        with pytest.raises(SaslAuthenticationFailed):
            await again.answer(final)


@pytest.mark.parametrize("name", SCRAM)
async def test_every_exchange_has_a_nonce_of_its_own(name: str) -> None:
    async with mechanisms() as found:
        first = b"n,,n=anna,r=abc"
        nonces = {(await found[name].begin().answer(first)).split(b",")[0] for _ in range(10)}
        assert len(nonces) == 10
        assert min(map(len, nonces)) > len(b"r=abc") + 32


@contextmanager
def noting_calls() -> Iterator[list[str]]:
    """Every function that is called meanwhile, in Python and in C."""
    called: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_qualname)
        elif event == "c_call":
            called.append(getattr(argument, "__qualname__", ""))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


def answered(exchange: LoginExchange, token: bytes) -> tuple[list[str], bytes]:
    """The steps that an answer takes, and the answer; none if the token is refused."""
    answer = b""
    with noting_calls() as called:
        try:
            exchange.answer(token).send(None)
        except StopIteration as stop:
            answer = stop.value
        except SaslAuthenticationFailed:
            pass
        else:
            raise AssertionError("it waits for something")
    return [step for step, _ in groupby(called)], answer


def steps_of(mechanism: Mechanism, user: str) -> list[str]:
    """Those of a login that fails."""
    exchange = mechanism.begin()
    if mechanism.name == "PLAIN":
        steps, nothing = answered(exchange, f"\0{user}\0wrong".encode())
    else:
        first, challenge = answered(exchange, f"n,,n={user},r=abc".encode())
        nonce, proof = challenge.split(b",")[0], bytes(32 if mechanism.name == SCRAM[0] else 64)
        final = b"c=biws," + nonce + b",p=" + base64.b64encode(proof)
        last, nothing = answered(exchange, final)
        steps = first + last
    assert nothing == b""
    # PLAIN compares the password, SCRAM the nonce and what proves the password.
    assert steps.count("compare_digest") == (1 if mechanism.name == "PLAIN" else 2)
    return steps


@pytest.mark.parametrize("name", ["PLAIN", *SCRAM])
async def test_a_stranger_takes_the_same_steps_as_a_wrong_password(name: str) -> None:
    """Steps, since a clock tells more of the machine; `bin/bench login_times` has the times."""
    async with mechanisms() as found:
        assert steps_of(found[name], "eve") == steps_of(found[name], ANNA)


@pytest.mark.parametrize("name", SCRAM)
async def test_a_stranger_is_asked_for_as_many_iterations_as_users_are(name: str) -> None:
    async with mechanisms() as found:
        for user in (ANNA, "eve", "ben"):
            _, challenge = answered(found[name].begin(), f"n,,n={user},r=abc".encode())
            assert challenge.endswith(f",i={ITERATIONS}".encode())
