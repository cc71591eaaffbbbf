"""Several real brokers inside the test process, which share a coordination tree in memory.

    with running_cluster(brokers=3) as cluster:
        cluster.create_topic("t", partitions=2)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        cluster[cluster.leader("t", 0)].kill()

The brokers run on one event loop in a thread of their own, and talk to each other over the
loopback interface, as processes would. Each keeps its data in a directory of its own.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from moldau.broker.broker import Broker
from moldau.broker.main import Ports, RunningBroker, running
from moldau.broker.storage.maintenance import EveryDirectoryOffline
from moldau.config.broker.startup import read_startup
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.model import TopicPartition
from moldau.runtime.clock import SystemClock
from moldau.testing.broker import temporary_root
from moldau.testing.control import Controls, Decide

Result = TypeVar("Result")
Prepare = Callable[[Broker], Coroutine[Any, Any, None]]

_SETTINGS = {
    # The tree is in memory; the name only says that there is one.
    "zookeeper.connect": "memory:2181",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "controlled.shutdown.retry.backoff.ms": "100",
}
_POLL_S = 0.002


class ClusterBroker:
    """One broker of the cluster, and what a test may do to it."""

    def __init__(
        self, cluster: "RunningCluster", broker_id: int, settings: Mapping[str, str]
    ) -> None:
        self.id = broker_id
        self.directory = cluster.directory / f"broker-{broker_id}"
        self._cluster = cluster
        self._settings = settings
        self._port = 0
        self._controls = Controls()
        self._trees: list[MemoryTree] = []
        self._task: asyncio.Task[None] | None = None
        self._stop: asyncio.Event
        self.running: RunningBroker

    @property
    def is_up(self) -> bool:
        """Whether it has been started and not stopped since."""
        return self._task is not None

    @property
    def address(self) -> str:
        """Where clients find it."""
        return f"127.0.0.1:{self._port}"

    @property
    def broker(self) -> Broker:
        """Its inside; only to be looked at in the cluster's thread, as by `Cluster.look`."""
        return self.running.broker

    # Its life

    def start(self) -> None:
        """Start, or start again with the same data on the same port."""
        self._cluster.call(self.begin())

    def stop(self) -> None:
        """Stop cleanly: others lead first what it leads."""
        self._cluster.call(self.end())

    def kill(self) -> None:
        """End as by kill -9: nothing is handed over or closed, and its session expires."""
        self._cluster.call(self._kill())

    def lose_session(self) -> None:
        """Let its session with the tree expire while it lives on."""
        self._cluster.look(lambda _: self._expire())

    def control(self, api: str, decide: Decide) -> Callable[[], None]:
        """Let `decide` say what happens to each request of an API; see `EmbeddedBroker`."""
        return self._cluster.look(lambda _: self._controls.add(api, decide))

    # In the cluster's thread

    async def begin(self) -> None:
        """Start."""
        assert self._task is None, f"broker {self.id} runs already"
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._serve(started))
        await asyncio.wait([self._task, started], return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            task, self._task = self._task, None
            await task

    async def end(self) -> None:
        """Stop cleanly, if it runs."""
        if self._task is not None:
            self._stop.set()
            task, self._task = self._task, None
            await task

    async def _kill(self) -> None:
        assert self._task is not None, f"broker {self.id} does not run"
        for directory in self.broker.logs.directories:
            # So that nothing is written any more, not even that it ended well.
            directory.volume.fail(OSError("killed"))
        self._expire()
        task, self._task = self._task, None
        task.cancel()
        try:
            await task
        except* (asyncio.CancelledError, EveryDirectoryOffline):
            # It may notice on its way out that its disks are gone.
            pass

    def _expire(self) -> None:
        self._cluster.ensemble.expire(self._trees[-1].session_id)

    async def _serve(self, started: asyncio.Future[None]) -> None:
        startup = read_startup(
            {
                **_SETTINGS,
                "broker.id": str(self.id),
                "log.dirs": str(self.directory),
                "listeners": f"PLAINTEXT://127.0.0.1:{self._port}",
                **self._settings,
            }
        )
        async with running(startup, Ports(open_tree=self._open_tree)) as self.running:
            (self._port, *_) = self.running.ports.values()
            self._controls.install(self.running.dispatcher)
            started.set_result(None)
            await self._stop.wait()

    async def _open_tree(self, *_: object) -> MemoryTree:
        self._trees.append(self._cluster.ensemble.connect())
        return self._trees[-1]


class RunningCluster:
    """The brokers by their ids, 0 and up."""

    def __init__(
        self,
        directory: Path,
        *,
        brokers: int = 3,
        settings: Mapping[str, str] | None = None,
        settings_of: Callable[[int], Mapping[str, str]] = lambda _broker_id: {},
    ) -> None:
        """`settings` are for all brokers; `settings_of` has those of one, such as its rack."""
        self.directory = directory
        self.ensemble: MemoryEnsemble
        self._members = {
            one: ClusterBroker(self, one, {**(settings or {}), **settings_of(one)})
            for one in range(brokers)
        }
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop

    def __getitem__(self, broker_id: int) -> ClusterBroker:
        return self._members[broker_id]

    def __iter__(self) -> Iterator[ClusterBroker]:
        return iter(self._members.values())

    @property
    def bootstrap_servers(self) -> str:
        """What clients call the setting of this name: the brokers that are up."""
        return ",".join(member.address for member in self if member.is_up)

    def start(self, prepare: "Prepare | None" = None) -> None:
        """Start all brokers; `prepare` has the first one to itself, before the others start."""
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(started,), name="moldau-test-cluster", daemon=True
        )
        self._thread.start()
        started.wait()
        for member in self:
            member.start()
            if member.id == 0 and prepare is not None:
                self.call(prepare(member.broker))

    def stop(self) -> None:
        """Stop the brokers that are up, one after the other."""
        if self._thread is None:
            return
        try:
            for member in self:
                member.stop()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._thread = None

    # Topics

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replicas: Mapping[int, tuple[int, ...]] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic, with a replica on every broker unless set otherwise, and wait for it.

        `replicas` has the brokers by partition, the preferred leader first.
        """
        ids = tuple(self._members)
        assignment = replicas or {
            number: ids[number % len(ids) :] + ids[: number % len(ids)]
            for number in range(partitions)
        }
        asked = next(member for member in self if member.is_up)

        async def create() -> None:
            await asked.broker.topics.create(name, dict(assignment), settings or {})

        self.call(create())
        for number, brokers in assignment.items():
            self.wait_for_leader(name, number)
            self.wait_for_in_sync(name, number, len(brokers))

    def leader(self, topic: str, partition: int = 0) -> int:
        """Which broker leads a partition; -1 if none is known to."""
        return self.look(lambda _: self._leader(TopicPartition(topic, partition)))

    def in_sync(self, topic: str, partition: int = 0) -> tuple[int, ...]:
        """The in-sync set, as the leader knows it."""
        return self.look(lambda _: self._in_sync(TopicPartition(topic, partition)))

    # Waiting and looking

    def wait_for(
        self, condition: Callable[["RunningCluster"], bool], *, timeout_s: float = 20.0
    ) -> None:
        """Return as soon as a condition on the brokers' insides holds; TimeoutError if never."""
        self._wait_for(condition, timeout_s, lambda: "the condition did not hold")

    def _wait_for(
        self,
        condition: Callable[["RunningCluster"], bool],
        timeout_s: float,
        explain: Callable[[], str],
    ) -> None:

        async def until() -> None:
            # The condition may be about anything, so there is nothing else to wait on.
            try:
                async with asyncio.timeout(timeout_s):
                    while not condition(self):  # noqa: ASYNC110
                        await asyncio.sleep(_POLL_S)
            except TimeoutError:
                raise TimeoutError(f"{explain()} (after {timeout_s:g} s)") from None

        self.call(until())

    def wait_for_leader(
        self, topic: str, partition: int = 0, *, other_than: int = -1, timeout_s: float = 20.0
    ) -> int:
        """Return the leader of a partition as soon as all brokers that are up know it."""
        name = TopicPartition(topic, partition)
        self._wait_for(
            lambda _: self._leader(name) not in (-1, other_than),
            timeout_s,
            lambda: f"{name} has leader {self._leader(name)} (-1 is none), not another one",
        )
        return self.leader(topic, partition)

    def wait_for_in_sync(
        self, topic: str, partition: int, count: int, *, timeout_s: float = 20.0
    ) -> None:
        """Return as soon as so many replicas are in sync."""
        name = TopicPartition(topic, partition)
        self._wait_for(
            lambda _: len(self._in_sync(name)) == count,
            timeout_s,
            lambda: f"{name} has {sorted(self._in_sync(name))} in sync, not {count} replicas",
        )

    def look(self, read: Callable[["RunningCluster"], Result]) -> Result:
        """What `read` finds in the brokers, whose thread does nothing else meanwhile."""

        async def look() -> Result:
            return read(self)

        return self.call(look())

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the cluster's loop."""
        assert self._thread is not None, "the cluster does not run"
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _leader(self, name: TopicPartition) -> int:
        """The one that leads, if all others know it."""
        known = {
            None if image is None else image.leader
            for member in self
            if member.is_up
            for image in [member.broker.metadata.image.partition(*name)]
        }
        leader = known.pop() if len(known) == 1 else None
        if leader is None or leader not in self._members or not self[leader].is_up:
            return -1
        found = self[leader].broker.replicas.find(name)
        return leader if found is not None and found.is_leader else -1

    def _in_sync(self, name: TopicPartition) -> tuple[int, ...]:
        leader = self._leader(name)
        if leader == -1:
            return ()
        return self[leader].broker.replicas.replica(name).state.isr

    def _run(self, started: threading.Event) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self.ensemble = MemoryEnsemble(SystemClock())
            self._loop.call_soon(started.set)
            self._loop.run_forever()


@contextmanager
def running_cluster(
    brokers: int = 3,
    settings: Mapping[str, str] | None = None,
    *,
    settings_of: Callable[[int], Mapping[str, str]] = lambda _broker_id: {},
    prepare: Prepare | None = None,
) -> Iterator[RunningCluster]:
    """A cluster from its start to its end; Kafka's settings by name may be given.

    `prepare` has the first broker to itself, before the others start: to make users, say.
    """
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="moldau-test-", dir=temporary_root()))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        cluster = RunningCluster(
            directory, brokers=brokers, settings=settings, settings_of=settings_of
        )
        stack.callback(cluster.stop)
        cluster.start(prepare)
        yield cluster
