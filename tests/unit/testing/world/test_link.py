"""Links: delays that keep the order, and cuts that hold everything back."""

import asyncio
import random

from moldau.testing.world.life import NOBODY
from moldau.testing.world.link import NetworkLink, Pipe
from moldau.testing.world.loop import WorldLoop, context_of


def new_link() -> tuple[WorldLoop, NetworkLink, Pipe]:
    loop = WorldLoop(lambda: 0.5)  # type: ignore[abstract]
    link = NetworkLink(loop, random.Random(1).random)
    return loop, link, Pipe(link, context_of(NOBODY))


def test_what_is_sent_arrives_later_and_in_order() -> None:
    loop, _, pipe = new_link()
    seen: list[tuple[int, float]] = []

    async def main() -> None:
        for number in range(100):
            pipe.send(lambda number: seen.append((number, loop.time())), number)
        await asyncio.sleep(1)

    loop.run(main())
    assert [number for number, _ in seen] == list(range(100))
    assert all(0 < at_s < 1 for _, at_s in seen)


def test_a_cut_holds_back_and_mending_lets_go_in_order() -> None:
    loop, link, pipe = new_link()
    seen: list[int] = []

    async def main() -> None:
        link.cut()
        pipe.send(seen.append, 1)
        pipe.send(seen.append, 2)
        await asyncio.sleep(60)
        assert seen == []
        link.mend()
        pipe.send(seen.append, 3)
        await asyncio.sleep(1)

    loop.run(main())
    assert seen == [1, 2, 3]


def test_a_sender_that_gives_up_takes_back_what_waits() -> None:
    loop, link, pipe = new_link()
    seen: list[int] = []

    async def main() -> None:
        link.cut()
        pipe.send(seen.append, 1)
        pipe.drop()
        link.mend()
        await asyncio.sleep(1)

    loop.run(main())
    assert seen == []


def test_a_slow_link_is_slow_until_it_is_mended() -> None:
    _, link, _ = new_link()
    link.extra_s = 10.0
    assert link.delay_s() >= 5.0
    link.mend()
    assert link.delay_s() < 1.0
