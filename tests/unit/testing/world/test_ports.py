"""Clocks that may be wrong, and chance that repeats itself."""

import asyncio
import random

from moldau.testing.world.ports import WorldRandom
from moldau.testing.world.world import World


def test_the_wall_clock_may_be_wrong_and_the_other_goes_on() -> None:
    with World(1) as world:
        clock = world.machine("a").clock
        began_ms = clock.now_ms()

        async def main() -> None:
            await asyncio.sleep(2)
            clock.skew_ms = -5_000

        world.run(main())
        assert clock.now_ms() == began_ms - 3_000
        assert clock.monotonic_ms() == 2_000
        assert clock.monotonic_ns() == 2_000_000_000


def test_the_same_seed_draws_the_same() -> None:
    one, other = WorldRandom(random.Random(7)), WorldRandom(random.Random(7))
    assert [one.below(10) for _ in range(20)] == [other.below(10) for _ in range(20)]
    drawn = one.uuid()
    assert drawn == other.uuid()
    assert (len(drawn), drawn[6] >> 4, drawn[8] >> 6) == (16, 4, 2)
