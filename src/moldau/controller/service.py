"""The controller at work: stands for election, follows the tree, writes plans, sends letters.

Everything happens in one task, one job after the other. Watches only name a job that is
due; a job that is due twice runs once, so the list of jobs is as short as the list of
their names. A job first looks (setting the watch again) and then acts on what it saw.

One service belongs to one session. When the session is lost, `run` raises SessionLost:
whoever owns the service registers the broker in a new session and starts another one. When
only the connection broke, nobody knows what became of the last request, so the picture of
the cluster is thrown away and read anew.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from moldau.controller.cluster import LiveBroker
from moldau.controller.controller import Controller, StateWrite
from moldau.controller.deletion import TopicDeletion
from moldau.controller.outbox import Letter, Request
from moldau.controller.state_nodes import StateNodes
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import (
    BadVersion,
    ConnectionLost,
    Create,
    NodeExists,
    NoNode,
    SessionState,
    SetData,
    Tree,
    Watch,
    WatchEvent,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)

Send = Callable[[int, Request], Awaitable[object]]
"""Delivers a request to a broker and returns the response, None if the broker is gone."""
Job = Callable[[], Awaitable[None]]

_READ_TOGETHER = 500
_ELECTION = "election"


class Deposed(Exception):
    """Another broker is controller now."""


class ControllerService:
    """This broker's part in the controllership, whether it has it or not."""

    def __init__(
        self,
        tree: Tree,
        broker_id: int,
        *,
        send: Send,
        clock: Clock,
        is_unclean_allowed: Callable[[str], bool],
    ) -> None:
        self._tree = tree
        self._reader = TreeReader(tree)
        self._broker_id = broker_id
        self._send = send
        self._clock = clock
        self._is_unclean_allowed = is_unclean_allowed
        self._machine: Controller | None = None
        self._nodes: StateNodes | None = None
        self._due: dict[str, Job] = {}
        self._is_something_due = asyncio.Event()

    @property
    def is_controller(self) -> bool:
        """Whether this broker is the controller."""
        return self._machine is not None

    @property
    def machine(self) -> Controller:
        """The machine of the controller that this broker is."""
        assert self._machine is not None
        return self._machine

    def require_office(self) -> None:
        """Raise unless this broker is the controller."""
        if self._machine is None:
            message = f"broker {self._broker_id} is not the controller"
            raise KafkaError(ErrorCode.NOT_CONTROLLER, message)

    def elect_preferred(self, partitions: Sequence[TopicPartition]) -> None:
        """Have partitions led by their first replicas where they can be, as soon as possible."""

        async def elect() -> None:
            await self._carry_out(self.machine.plan_preferred(partitions))

        self._when(f"preferred leaders of {partitions}", elect)

    async def run(self) -> None:
        """Stand for election, then do what comes due, until the session is lost."""
        self._tree.listen(self._session_changed)
        self._when(_ELECTION, self._elect)
        try:
            while True:
                while not self._due:
                    self._is_something_due.clear()
                    await self._is_something_due.wait()
                job = self._due.pop(next(iter(self._due)))
                await self._do(job)
        finally:
            self._machine = None

    async def _do(self, job: Job) -> None:
        try:
            await job()
        except Deposed:
            self._resign()
            self._when(_ELECTION, self._elect)
        except ConnectionLost:
            self._resign()  # until the connection is back

    def _when(self, name: str, job: Job) -> None:
        self._due[name] = job
        self._is_something_due.set()

    def _watch(self, name: str, job: Job) -> Watch:
        """A watch that has a job done, unless this term of office is over by then."""
        term = self._machine

        def fired(_event: WatchEvent) -> None:
            if self._machine is term:
                self._when(name, job)

        return fired

    def _session_changed(self, state: SessionState) -> None:
        if state is not SessionState.SUSPENDED:
            self._when(_ELECTION, self._elect)

    # Election

    async def _elect(self) -> None:
        stat = await self._tree.exists(
            controller_nodes.PATH, watch=lambda _event: self._when(_ELECTION, self._elect)
        )
        if stat is None:
            self._resign()
            await self._stand()
        elif stat.ephemeral_owner != self._tree.session_id:
            self._resign()
        elif self._machine is None:
            # Elected, but the connection broke before the answer came.
            await self._take_office(*await self._epoch())

    async def _stand(self) -> None:
        try:
            epoch, version = await self._epoch()
        except NodeDataError as error:
            _log.error("the controller epoch is not understood: %s", error)
            return
        registration = controller_nodes.ControllerRegistration(
            self._broker_id, self._clock.now_ms()
        )
        try:
            await self._tree.multi(
                [
                    Create(controller_nodes.PATH, registration.encode(), is_ephemeral=True),
                    SetData(
                        controller_nodes.EPOCH_PATH,
                        controller_nodes.encode_epoch(epoch + 1),
                        version,
                    ),
                ]
            )
        except (NodeExists, BadVersion):
            return  # Another was quicker; the watch tells when it goes.
        await self._take_office(epoch + 1, version + 1)

    async def _epoch(self) -> tuple[int, int]:
        """The epoch of the latest controller, and the version of the node that says so."""
        while True:
            try:
                node = await self._tree.get(controller_nodes.EPOCH_PATH)
            except NoNode:
                first = Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(0))
                try:
                    await self._tree.create(first)
                except NodeExists:
                    continue
            else:
                return controller_nodes.decode_epoch(node.data), node.stat.version

    def _resign(self) -> None:
        if self._machine is not None:
            _log.info("broker %d is no longer the controller", self._broker_id)
        self._machine = self._nodes = None
        # An election may have come due since: it must not get lost with the rest.
        self._due = {name: job for name, job in self._due.items() if name == _ELECTION}

    async def _take_office(self, epoch: int, epoch_version: int) -> None:
        _log.info("broker %d is the controller, epoch %d", self._broker_id, epoch)
        machine = Controller(self._broker_id, epoch, is_unclean_allowed=self._is_unclean_allowed)
        self._machine = machine
        self._nodes = StateNodes(self._tree, epoch_version)
        machine.cluster.brokers.update(await self._read_brokers())
        await self._load_topics(await self._read_topic_names())
        await self._load_deletions()
        await self._welcome(machine.cluster.brokers)
        await self._carry_out(machine.plan_offline())
        await self._delete_topics()

    # Brokers

    async def _brokers_changed(self) -> None:
        machine = self.machine
        known = machine.cluster.brokers
        found = await self._read_brokers()
        # A broker that came back between two looks has another epoch.
        gone = {one for one in known if one not in found or found[one].epoch != known[one].epoch}
        come = {one for one in found if one not in known or one in gone}
        known.clear()
        known.update({one: broker for one, broker in found.items() if one not in come})
        machine.cluster.stopping -= gone
        if gone:
            machine.outbox.tell_metadata(known)
            await self._carry_out([*machine.plan_offline(), *machine.plan_shrink(gone)])
        known.update(found)
        if come:
            await self._welcome(come)
            await self._carry_out(machine.plan_offline())
            await self._delete_topics()

    async def _welcome(self, come: Iterable[int]) -> None:
        """Tell everyone who there is, and only then the newcomers what is theirs."""
        machine = self.machine
        machine.outbox.tell_metadata(machine.cluster.brokers)
        await self._deliver()
        machine.welcome(come)
        await self._deliver()

    # Topics

    async def _topics_changed(self) -> None:
        names = await self._read_topic_names()
        machine = self.machine
        there = set(names)
        for gone in [name for name in machine.cluster.topics if name not in there]:
            machine.cluster.forget(gone)
        new = [name for name in names if name not in machine.cluster.topics]
        await self._load_topics(new)
        await self._carry_out(
            machine.plan_new(one for name in new for one in machine.cluster.partitions_of(name))
        )

    async def _topic_changed(self, name: str) -> None:
        machine = self.machine
        if name not in machine.cluster.topics:
            return
        await self._load_topics([name])
        if name not in machine.cluster.deleting:
            await self._carry_out(machine.plan_new(machine.cluster.partitions_of(name)))

    async def _load_topics(self, names: Sequence[str]) -> None:
        """Read topics and who leads their partitions, many at a time."""
        cluster = self.machine.cluster
        for start in range(0, len(names), _READ_TOGETHER):
            some = names[start : start + _READ_TOGETHER]
            await asyncio.gather(*map(self._load_topic, some))
            await asyncio.gather(
                *(
                    self._load_state(partition)
                    for name in some
                    for partition in cluster.partitions_of(name)
                    if partition not in cluster.leaders
                )
            )

    async def _load_topic(self, name: str) -> None:
        watch = self._watch(f"topic {name}", partial(self._topic_changed, name))
        topic = await self._reader.topic(name, watch)
        if topic is not None:
            self.machine.cluster.topics[name] = topic

    async def _load_state(self, partition: TopicPartition) -> None:
        state = await self._reader.state(partition)
        if state is not None:
            self.machine.cluster.leaders[partition] = state

    # Deletion

    async def _deletions_changed(self) -> None:
        await self._load_deletions()
        await self._delete_topics()

    async def _load_deletions(self) -> None:
        watch = self._watch("deletions", self._deletions_changed)
        names = await self._reader.deletions(watch)
        self.machine.cluster.deleting.update(dict.fromkeys(names))

    async def _delete_topics(self) -> None:
        assert self._nodes is not None
        deletion = TopicDeletion(self._nodes, self.machine, self._deliver)
        for name in list(self.machine.cluster.deleting):
            try:
                await deletion.delete(name)
            except BadVersion as error:
                raise Deposed from error

    # Looking

    async def _read_brokers(self) -> dict[int, LiveBroker]:
        return await self._reader.brokers(self._watch("brokers", self._brokers_changed))

    async def _read_topic_names(self) -> list[str]:
        return await self._reader.topic_names(self._watch("topics", self._topics_changed))

    # Acting

    async def _carry_out(self, writes: list[StateWrite]) -> None:
        assert self._nodes is not None
        try:
            written = await self._nodes.write(writes)
        except BadVersion as error:
            raise Deposed from error
        for write, version in written:
            self.machine.note_written(write, version)
        await self._deliver()

    async def _deliver(self) -> list[tuple[Letter, object]]:
        """Send everything in the outbox; each broker gets its letters in order."""
        return [
            (letter, await self._send(letter.broker_id, letter.request))
            for letter in self.machine.outbox.letters()
        ]
