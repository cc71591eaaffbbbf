"""Users with SCRAM passwords: how long many take to load, what they take in memory, what one costs.

    bin/bench users [USERS]

Users are loaded from a store in memory, as the embedded one is, each with passwords for both
mechanisms. Then one is looked up, a stranger as well, one is changed, and all are described.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Awaitable, Callable

from moldau.broker.login.credentials import ScramCredentials
from moldau.broker.login.users import ScramUsers, SecretChange
from moldau.coordination.layout.configs import encode_config
from moldau.coordination.tree import Create
from moldau.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)
from moldau.security.scram import MECHANISMS, Claim, ScramSecret
from unit.broker.world import World, broker_world

USERS = 100_000
TURNS = 1_000
SHA = "SCRAM-SHA-256"


def secret(number: int, mechanism: str) -> ScramSecret:
    size = 32 if mechanism == SHA else 64
    key = number.to_bytes(8, "big") * (size // 8)
    return ScramSecret(b"%026d" % number, 4096 + 4096 * (number % 2), key, key)


async def fill(world: World, count: int) -> None:
    for number in range(count):
        texts = {each: secret(number, each).to_text() for each in MECHANISMS}
        await world.tree.create(Create(f"/config/users/user-{number:06}", encode_config(texts)))


async def cpu_us(work: Callable[[], Awaitable[object]], times: int) -> float:
    began_s = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - began_s) / times * 1e6


def resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def run(count: int) -> None:
    async with broker_world() as world:
        await fill(world, count)
        users = ScramUsers(world.broker.configs)
        before_mb, began_s = resident_mb(), time.process_time()
        await users.load()
        took_s, grown_mb = time.process_time() - began_s, resident_mb() - before_mb
        print(f"{count} users: loaded in {took_s:.2f} s of CPU, {grown_mb:.0f} MB more")
        known = ScramCredentials(users, world.broker.tokens, b"key")
        for name, user in (("a user", f"user-{count // 2:06}"), ("a stranger", "eve")):
            us = await cpu_us(lambda user=user: known.find(SHA, Claim(user, False)), TURNS)
            print(f"{name} is looked up in {us:.1f} us")
        change = [SecretChange(SHA, secret(7, SHA))]
        us = await cpu_us(lambda: users.alter("user-000001", change), TURNS // 10)
        print(f"one is changed in {us:.0f} us")
        everybody = DescribeUserScramCredentialsRequest(users=None)
        us = await cpu_us(lambda: world.ask(everybody, 0), 1)
        print(f"all are described in {us / 1e6:.2f} s of CPU, in turns")


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else USERS))
