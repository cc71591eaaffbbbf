"""The files of the package that a request visits, from the dispatcher to its answer.

    MOLDAU_PURE=1 python -m unit.broker.walk produce|fetch

Compiled functions would not be seen.
"""

import asyncio
import sys
from pathlib import Path
from types import FrameType

import moldau
from unit.broker.sample_requests import (
    NEWEST_FETCH,
    NEWEST_PRODUCE,
    fetch,
    fetch_partition,
    produce,
)
from unit.broker.world import CLIENT, batch_of, broker_world, frame_of

PACKAGE = Path(moldau.__file__).parent


async def visited(kind: str) -> list[str]:
    """The files that one request visits once everything it needs is loaded."""
    async with broker_world() as world:
        topic_id = await world.create_topic("t")
        world.append("t", b"before")
        files: set[str] = set()

        def see(frame: FrameType, event: str, _argument: object) -> None:
            path = Path(frame.f_code.co_filename)
            if event == "call" and path.is_relative_to(PACKAGE) and path.parent.name != "testing":
                files.add(path.relative_to(PACKAGE).as_posix())

        for _ in range(2):  # the first loads modules
            if kind == "produce":
                frame = frame_of(produce(batch_of(b"value")), NEWEST_PRODUCE)
            else:
                frame = frame_of(fetch(fetch_partition(), topic=topic_id), NEWEST_FETCH)
            files.clear()
            sys.setprofile(see)
            answer = world.begin(CLIENT, frame)
            sys.setprofile(None)
            assert isinstance(answer, list), answer
        return sorted(files)


if __name__ == "__main__":
    print("\n".join(asyncio.run(visited(sys.argv[1]))))
