"""What goes wrong in a simulation: drawn from the seed, one fault after the other."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from moldau.testing.disk import UNLIMITED_BYTES, lose_all
from moldau.testing.world.tree import ENSEMBLE
from moldau.testing.world.world import World
from simulation.cluster import SimulatedBroker

Fault = Callable[[SimulatedBroker], Awaitable[None]]


class Faults:
    """Breaks things, and mends each after a while."""

    def __init__(
        self,
        world: World,
        brokers: Sequence[SimulatedBroker],
        clients: Sequence[str],
        *,
        without: Sequence[str] = (),
    ) -> None:
        self.happened: list[str] = []
        self._world = world
        self._brokers = brokers
        self._clients = clients
        self._chance: random.Random = world.chance("faults")
        kinds: dict[str, Fault] = {
            "kill": self.kill,
            "restart at once": self.restart_at_once,
            "power loss": self.lose_power,
            "power loss in a step": self.lose_power_in_a_step,
            "stop": self.stop,
            "pause": self.pause,
            "session expiry": self.expire_session,
            "cut off from the tree": self.cut_from_tree,
            "cut off from clients": self.cut_from_clients,
            "cut off from brokers": self.cut_from_brokers,
            "deaf": self.deafen,
            "mute": self.mute,
            "slow links": self.slow_links,
            "reset": self.reset,
            "refused": self.refuse,
            "flapping": self.flap,
            "slow disk": self.slow_disk,
            "wrong clock": self.set_clock,
            "failing disk": self.fail_disk,
            "full disk": self.fill_disk,
        }
        self.kinds = {name: fault for name, fault in kinds.items() if name not in without}

    async def run(self, until_s: float) -> None:
        """Let something happen every few seconds, sometimes several things at once."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            while loop.time() < until_s:
                kind = self._chance.choice(list(self.kinds))
                broker = self._chance.choice(self._brokers)
                self.happened.append(f"{loop.time():.3f} s: {kind}, {broker.machine.name}")
                tasks.create_task(self._happen(self.kinds[kind], broker))
                await asyncio.sleep(self._chance.uniform(1.0, 7.0))

    async def heal(self) -> None:
        """Mend everything."""
        for link in self._world.network.links():
            link.mend()
        self._world.network.take_all()
        for broker in self._brokers:
            broker.machine.slow_down(1)
            broker.machine.clock.skew_ms = 0
            broker.machine.disk.capacity_bytes = UNLIMITED_BYTES
            broker.machine.disk.mend()
            broker.machine.resume()
            self._start(broker)

    async def _happen(self, fault: Fault, broker: SimulatedBroker) -> None:
        await fault(broker)

    # Programs and machines

    async def kill(self, broker: SimulatedBroker) -> None:
        """kill -9: what was written is there."""
        if broker.machine.is_up:
            broker.is_wanted = False
            broker.machine.kill()
            await self._pause(0.1, 12)
            self._start(broker)

    async def restart_at_once(self, broker: SimulatedBroker) -> None:
        """kill -9, and a start before its session ends or anybody has noticed."""
        if broker.machine.is_up:
            broker.is_wanted = False
            broker.machine.kill()
            await self._pause(0.0, 0.5)
            self._start(broker)

    async def lose_power(self, broker: SimulatedBroker) -> None:
        """Unsynced bytes are lost: all, some or none."""
        if broker.machine.is_up:
            broker.is_wanted = False
            chance = self._chance
            choice = lose_all if chance.random() < 0.5 else lambda count: chance.randint(0, count)
            broker.machine.lose_power(choice)
            await self._pause(0.1, 12)
            self._start(broker)

    async def lose_power_in_a_step(self, broker: SimulatedBroker) -> None:
        """Likewise, at some call to the disk, in the middle of whatever it belongs to."""
        if broker.machine.is_up:
            chance = self._chance
            broker.machine.lose_power_at_call(
                chance.randint(1, 200), lambda count: chance.randint(0, count)
            )

    async def stop(self, broker: SimulatedBroker) -> None:
        """A clean shutdown, and a start."""
        if broker.machine.is_up and broker.running is not None:
            broker.stop()
            await self._pause(2, 10)
            self._start(broker)

    async def pause(self, broker: SimulatedBroker) -> None:
        """SIGSTOP, and SIGCONT."""
        life = broker.machine.life
        broker.machine.pause()
        await self._pause(0.5, 12)
        if broker.machine.life is life:
            broker.machine.resume()

    # The network

    async def expire_session(self, broker: SimulatedBroker) -> None:
        """The tree's servers end the broker's session."""
        tree = self._world.ensemble.session_of(broker.machine.name)
        if tree is not None:
            self._world.ensemble.expire(tree.session_id)

    async def cut_from_tree(self, broker: SimulatedBroker) -> None:
        await self._cut(broker, [ENSEMBLE], is_inward=True, is_outward=True)

    async def cut_from_clients(self, broker: SimulatedBroker) -> None:
        await self._cut(broker, self._clients, is_inward=True, is_outward=True)

    async def cut_from_brokers(self, broker: SimulatedBroker) -> None:
        await self._cut(broker, self._others(broker), is_inward=True, is_outward=True)

    async def deafen(self, broker: SimulatedBroker) -> None:
        """It can send, but hears nothing."""
        await self._cut(broker, self._everyone(broker), is_inward=True, is_outward=False)

    async def mute(self, broker: SimulatedBroker) -> None:
        """It hears, but nothing that it sends arrives."""
        await self._cut(broker, self._everyone(broker), is_inward=False, is_outward=True)

    async def slow_links(self, broker: SimulatedBroker) -> None:
        """Everything takes much longer to and from a broker."""
        network, name = self._world.network, broker.machine.name
        extra_s = self._chance.uniform(0.02, 0.4)
        links = [
            link
            for other in self._everyone(broker)
            for link in (network.link(name, other), network.link(other, name))
        ]
        for link in links:
            link.extra_s = extra_s
        await self._pause(2, 10)
        for link in links:
            link.extra_s = 0.0

    async def reset(self, broker: SimulatedBroker) -> None:
        """All connections to it are reset; it takes others at once."""
        for caller in (*self._clients, *self._others(broker)):
            self._world.network.reset(caller, broker.machine.name)

    async def refuse(self, broker: SimulatedBroker) -> None:
        """It serves, but some of the brokers, or all, find its port closed."""
        others = self._others(broker)
        callers = self._chance.sample(others, self._chance.randint(0, len(others)))
        await self._refuse(broker, callers, self._chance.uniform(0.1, 8))

    async def flap(self, broker: SimulatedBroker) -> None:
        """Connections to it are reset again and again, and refused for a moment."""
        callers = [*self._clients, *self._others(broker)]
        for _ in range(self._chance.randint(2, 12)):
            await self._refuse(broker, callers, self._chance.uniform(0.05, 0.6))
            await self._pause(0.05, 0.6)

    async def _refuse(
        self, broker: SimulatedBroker, callers: Sequence[str], duration_s: float
    ) -> None:
        network, name = self._world.network, broker.machine.name
        for caller in callers:
            network.refuse(caller, name)
        await asyncio.sleep(duration_s)
        for caller in callers:
            network.take(caller, name)

    # Disks and clocks

    async def slow_disk(self, broker: SimulatedBroker) -> None:
        """Syncing takes up to seconds."""
        broker.machine.slow_down(self._chance.uniform(20, 800))
        await self._pause(2, 10)
        broker.machine.slow_down(1)

    async def set_clock(self, broker: SimulatedBroker) -> None:
        """The clock on the wall is up to an hour wrong, for good."""
        broker.machine.clock.skew_ms = self._chance.randint(-3_600_000, 3_600_000)

    async def fail_disk(self, broker: SimulatedBroker) -> None:
        """Some call to the disk, soon, fails."""
        broker.machine.disk.fail_call(self._chance.randint(1, 200))

    async def fill_disk(self, broker: SimulatedBroker) -> None:
        """There is hardly any room left on the disk, for a while."""
        disk = broker.machine.disk
        disk.capacity_bytes = disk.used_bytes() + self._chance.randint(0, 8_000)
        await self._pause(1, 8)
        broker.machine.disk.capacity_bytes = UNLIMITED_BYTES

    async def _cut(
        self, broker: SimulatedBroker, others: Sequence[str], *, is_inward: bool, is_outward: bool
    ) -> None:
        network, name = self._world.network, broker.machine.name
        links = []
        for other in others:
            links += [network.link(other, name)] * is_inward
            links += [network.link(name, other)] * is_outward
        for link in links:
            link.cut()
        await self._pause(0.5, 12)
        for link in links:
            link.mend()

    def _others(self, broker: SimulatedBroker) -> list[str]:
        return [other.machine.name for other in self._brokers if other is not broker]

    def _everyone(self, broker: SimulatedBroker) -> list[str]:
        return [ENSEMBLE, *self._clients, *self._others(broker)]

    def _start(self, broker: SimulatedBroker) -> None:
        # One that is still about to stop is started when it has.
        broker.is_wanted = True
        if not broker.machine.is_up:
            broker.start()

    async def _pause(self, least_s: float, most_s: float) -> None:
        await asyncio.sleep(self._chance.uniform(least_s, most_s))
