"""The brokers of a simulation: the real ones, each on a machine of the simulated world."""

import asyncio
from collections.abc import Mapping

from moldau.broker.main import Ports, RunningBroker, running
from moldau.config.broker.startup import Startup, read_startup
from moldau.coordination.tree import Tree
from moldau.testing.world.machine import Machine
from moldau.testing.world.world import World

PORT = 9092
SESSION_TIMEOUT_S = 6.0
INTERNAL_PARTITIONS = 2
"""How many partitions the topics of each kind of coordinator have."""

_SETTINGS = {
    "log.dirs": "/data",
    "zookeeper.connect": "ensemble:2181",
    "zookeeper.session.timeout.ms": "6000",
    "replica.lag.time.max.ms": "5000",
    "controlled.shutdown.retry.backoff.ms": "1000",
    "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "group.initial.rebalance.delay.ms": "500",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "2000",
    "log.flush.offset.checkpoint.interval.ms": "5000",
    "replica.high.watermark.checkpoint.interval.ms": "3000",
    "log.segment.bytes": "16384",
    "log.cleaner.enable": "false",
    "auto.create.topics.enable": "false",
}
# A supervisor starts a program again that has ended.
_RESTART_S = 1.0


class SimulatedBroker:
    """A broker on its machine, started again whenever it ends, unless it is to be down."""

    def __init__(self, world: World, broker_id: int, settings: Mapping[str, str]) -> None:
        self.id = broker_id
        self.machine = world.machine(f"broker-{broker_id}")
        self.is_wanted = True
        self.running: RunningBroker | None = None
        self._world = world
        self._settings = settings
        self._stopping: asyncio.Event

    @property
    def address(self) -> tuple[str, int]:
        """Where clients call it."""
        return self.machine.name, PORT

    def start(self) -> None:
        """Start the program, and keep it running."""
        self.is_wanted = True
        self.machine.start(self._serve)

    def stop(self) -> None:
        """Ask the program to end in good order."""
        self.is_wanted = False
        self._stopping.set()

    async def supervise(self) -> None:
        """Start the program again where it ends by itself."""
        while True:
            await asyncio.sleep(_RESTART_S)
            if self.is_wanted and not self.machine.is_up:
                self.start()

    async def _serve(self, machine: Machine) -> None:
        self._stopping = asyncio.Event()
        self.running = None
        protocol = self._settings.get("security.inter.broker.protocol", "PLAINTEXT")
        startup = read_startup(
            {
                **_SETTINGS,
                "broker.id": str(self.id),
                "listeners": f"{protocol}://{machine.name}:{PORT}",
                **self._settings,
            }
        )
        ports = Ports(
            clock=machine.clock,
            disk=machine.disk,
            random=machine.random,
            bind=self._world.network.bind,
            open_tree=self._open_tree,
            syncs_at_once=1,
        )
        async with running(startup, ports) as self.running:
            await self._stopping.wait()

    async def _open_tree(self, _startup: Startup, _ports: Ports) -> Tree:
        return await self._world.ensemble.open(timeout_s=SESSION_TIMEOUT_S)
