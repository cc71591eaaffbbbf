"""A real broker inside the test process, in a thread of its own.

    with running_broker() as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})

It listens on a free port of the loopback address and keeps its data in a directory that
goes with it. Nothing is shared between two of them.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from moldau.broker.broker import Broker
from moldau.broker.main import Ports, RunningBroker, running
from moldau.config.broker.startup import read_startup
from moldau.records.record import Record
from moldau.testing.contents import bounds_of, describe, records_of
from moldau.testing.control import Controls, Decide

Result = TypeVar("Result")

_SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
_START_S = 30.0
_POLL_S = 0.001
_MEMORY = "/dev/shm"  # noqa: S108 - the directory made in it is ours alone
_MEMORY_BYTES_MIN = 2**30


class BrokerNotStarted(Exception):
    """The broker ended while it was starting; the cause says why."""


class BrokerStopped(Exception):
    """The broker had stopped by itself; the cause says why."""


class EmbeddedBroker:
    """A broker, and what a test may ask of it."""

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        self.directory = directory
        self._settings = dict(settings)
        self._port = 0
        self._controls = Controls()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.running: RunningBroker
        self._failure: BaseException | None = None

    # Where it is

    @property
    def bootstrap_servers(self) -> str:
        """What clients call the setting of this name."""
        return f"127.0.0.1:{self._port}"

    # Its life

    def start(self) -> None:
        """Start, or start again with the same data on the same port."""
        assert self._thread is None, "the broker runs already"
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="moldau-test-broker", daemon=True
        )
        self._thread.start()
        assert started.wait(_START_S), f"the broker did not start within {_START_S} s"
        failure = self._take_failure()
        if failure is not None:
            self._thread.join()
            self._thread = None
            raise BrokerNotStarted(str(failure)) from failure

    def stop(self) -> None:
        """Stop cleanly; raises BrokerStopped if something had stopped it before."""
        if self._thread is None:
            return
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = None
        failure = self._take_failure()
        if failure is not None:
            raise BrokerStopped(str(failure)) from failure

    def restart(self) -> None:
        """Stop cleanly and start again: same data, same port, same control functions."""
        self.stop()
        self.start()

    # Faults

    def control(self, api: str, decide: Decide) -> Callable[[], None]:
        """Let `decide` say what happens to each request of an API, named as in "Produce".

        It runs in the broker's thread and returns a `Fail`, `Delay`, `Drop`, `Lose` or
        `Respond`, or None to let the request be. Returns a function that ends it.
        """

        return self.look(lambda _: self._controls.add(api, decide))

    # Looking inside

    def look(self, read: Callable[[Broker], Result]) -> Result:
        """What `read` finds in the broker, whose thread does nothing else meanwhile."""

        async def look() -> Result:
            return read(self.running.broker)

        return self.call(look())

    def wait_for(self, condition: Callable[[Broker], bool], *, timeout_s: float = 10.0) -> None:
        """Return as soon as a condition on the broker's insides holds; TimeoutError if never."""
        self.call(self._until(condition, timeout_s, lambda _: "the condition did not hold"))

    def wait_for_topic(self, topic: str, *, timeout_s: float = 10.0) -> None:
        """Return as soon as a topic exists and all its partitions have a leader."""

        def is_there(broker: Broker) -> bool:
            found = broker.metadata.image.topics.get(topic)
            return found is not None and all(
                partition.leader in broker.metadata.image.brokers
                for partition in found.partitions.values()
            )

        def explain(broker: Broker) -> str:
            return f"topic {topic} has no leaders: {describe(broker, topic)}"

        self.call(self._until(is_there, timeout_s, explain))

    def wait_for_records(
        self, topic: str, count: int, *, timeout_s: float = 10.0
    ) -> dict[int, list[Record]]:
        """Return a topic's records by partition, as soon as `count` of them are committed.

        Those of transactions that are open or aborted are among them. TimeoutError says what
        the topic has instead.
        """
        found: dict[int, list[Record]] = {}
        bounds: list[tuple[int, int]] | None = None

        def has_enough(broker: Broker) -> bool:
            nonlocal found, bounds
            before, bounds = bounds, bounds_of(broker, topic)
            if bounds == before or sum(end - start for start, end in bounds) < count:
                return False
            found = records_of(broker, topic)  # offsets may be without a record
            return sum(map(len, found.values())) >= count

        def explain(broker: Broker) -> str:
            there = sum(map(len, records_of(broker, topic).values()))
            wanted = f"{count} records of topic {topic} were wanted, {there} are there"
            return f"{wanted}: {describe(broker, topic)}"

        self.call(self._until(has_enough, timeout_s, explain))
        return found

    def records(self, topic: str) -> dict[int, list[Record]]:
        """What is committed of a topic now, by partition."""
        return self.wait_for_records(topic, 0)

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the broker's loop."""
        assert self._thread is not None, "the broker does not run"
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _take_failure(self) -> BaseException | None:
        failure, self._failure = self._failure, None
        return failure

    # In the broker's thread

    async def _until(
        self,
        condition: Callable[[Broker], bool],
        timeout_s: float,
        explain: Callable[[Broker], str],
    ) -> None:
        # The condition may be about anything, so there is nothing else to wait on.
        try:
            async with asyncio.timeout(timeout_s):
                while not condition(self.running.broker):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            reason = f"{explain(self.running.broker)} (after {timeout_s:g} s)"
            raise TimeoutError(reason) from None

    def _run(self, started: threading.Event) -> None:
        try:
            asyncio.run(self._serve(started))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self._failure = error
        finally:
            started.set()

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        startup = read_startup(
            {
                **_SETTINGS,
                "log.dirs": str(self.directory),
                "listeners": f"PLAINTEXT://127.0.0.1:{self._port}",
                **self._settings,
            }
        )
        async with running(startup, Ports()) as self.running:
            (self._port, *_) = self.running.ports.values()
            self._controls.install(self.running.dispatcher)
            started.set()
            await self._stop.wait()


@contextmanager
def running_broker(
    settings: Mapping[str, str] | None = None, *, directory: Path | None = None
) -> Iterator[EmbeddedBroker]:
    """A broker from its start to its end; Kafka's settings by name may be given."""
    with ExitStack() as stack:
        if directory is None:
            directory = Path(tempfile.mkdtemp(prefix="moldau-test-", dir=temporary_root()))
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        kafka = EmbeddedBroker(directory, settings or {})
        kafka.start()
        stack.callback(kafka.stop)
        yield kafka


def temporary_root() -> str | None:
    """Memory, if there is plenty: syncing to a disk takes most of a start."""
    with suppress(OSError):
        if shutil.disk_usage(_MEMORY).free >= _MEMORY_BYTES_MIN:
            return _MEMORY
    return None
