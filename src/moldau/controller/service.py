"""The controller at work: stands for election, follows the tree, writes plans, sends letters.

Everything happens in one task, one job after the other. Watches only name a job that is
due; a job that is due twice runs once, so the list of jobs is as short as the list of
their names. A job first looks (setting the watch again) and then acts on what it saw.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from moldau.controller.cluster import Assignment, LeaderIsr, Listening, LiveBroker, Topic
from moldau.controller.controller import Controller, StateWrite
from moldau.controller.deletion import TopicDeletion
from moldau.controller.outbox import Letter, Request
from moldau.controller.state_nodes import StateNodes
from moldau.coordination.layout import brokers as broker_nodes
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout import partitions as partition_lists
from moldau.coordination.layout import topics as topic_nodes
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import (
    BadVersion,
    Create,
    NodeExists,
    NoNode,
    SetData,
    Tree,
    WatchEvent,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition, parse_uuid
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)

Send = Callable[[int, Request], Awaitable[object]]
Job = Callable[[], Awaitable[None]]
SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


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
        self._broker_id = broker_id
        self._send = send
        self._clock = clock
        self._is_unclean_allowed = is_unclean_allowed
        self._machine: Controller | None = None
        self._states: StateNodes | None = None
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

    async def run(self) -> None:
        """Stand for election, then do what comes due, until cancelled."""
        self._when("election", self._elect)
        while True:
            await self._is_something_due.wait()
            name = next(iter(self._due))
            job = self._due.pop(name)
            if not self._due:
                self._is_something_due.clear()
            try:
                await job()
            except Deposed:
                self._resign()

    def _when(self, name: str, job: Job) -> None:
        self._due[name] = job
        self._is_something_due.set()

    def _watch(self, name: str, job: Job) -> Callable[[WatchEvent], None]:
        return lambda _event: self._when(name, job)

    # Election

    async def _elect(self) -> None:
        watch = self._watch("election", self._elect)
        if await self._tree.exists(controller_nodes.PATH, watch=watch) is not None:
            if self._machine is not None and not await self._holds_office():
                self._resign()
            return
        self._machine = None
        epoch, version = await self._epoch()
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
        try:
            node = await self._tree.get(controller_nodes.EPOCH_PATH)
        except NoNode:
            created = await self._tree.create(
                Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(0))
            )
            return 0, created.stat.version
        return controller_nodes.decode_epoch(node.data), node.stat.version

    async def _holds_office(self) -> bool:
        try:
            node = await self._tree.get(controller_nodes.PATH)
        except NoNode:
            return False
        return node.stat.ephemeral_owner == self._tree.session_id

    def _resign(self) -> None:
        _log.info("broker %d is no longer the controller", self._broker_id)
        self._machine = None
        self._states = None
        self._due.clear()
        self._when("election", self._elect)

    async def _take_office(self, epoch: int, epoch_version: int) -> None:
        _log.info("broker %d is the controller, epoch %d", self._broker_id, epoch)
        machine = Controller(self._broker_id, epoch, is_unclean_allowed=self._is_unclean_allowed)
        self._machine = machine
        self._states = StateNodes(self._tree, epoch_version)
        machine.cluster.brokers.update(await self._read_brokers())
        topics = await self._tree.children(
            topic_nodes.PATH, watch=self._watch("topics", self._topics_changed)
        )
        await self._load_topics(topics)
        await self._load_deletions()
        machine.welcome(machine.cluster.brokers)
        await self._deliver()
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
            machine.welcome(come)
            await self._deliver()
            await self._carry_out(machine.plan_offline())
            await self._delete_topics()

    async def _read_brokers(self) -> dict[int, LiveBroker]:
        names = await self._tree.children(
            broker_nodes.IDS_PATH, watch=self._watch("brokers", self._brokers_changed)
        )
        found = {}
        for name in names:
            try:
                node = await self._tree.get(broker_nodes.id_path(int(name)))
                registration = broker_nodes.decode_broker(node.data)
            except NoNode:
                continue
            except (NodeDataError, ValueError) as error:
                _log.warning("broker node %s is not understood: %s", name, error)
                continue
            found[int(name)] = _live_broker(int(name), node.stat.czxid, registration)
        return found

    # Topics

    async def _topics_changed(self) -> None:
        names = await self._tree.children(
            topic_nodes.PATH, watch=self._watch("topics", self._topics_changed)
        )
        machine = self.machine
        for gone in set(machine.cluster.topics) - set(names):
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

    async def _load_topics(self, names: Iterable[str]) -> None:
        machine = self.machine
        for name in names:
            watch = self._watch(f"topic {name}", partial(self._topic_changed, name))
            try:
                node = await self._tree.get(topic_nodes.topic_path(name), watch=watch)
                topic = topic_nodes.decode_topic(node.data)
                topic_id = None if topic.topic_id is None else parse_uuid(topic.topic_id)
            except NoNode:
                continue
            except (NodeDataError, ValueError) as error:
                _log.warning("topic node %s is not understood: %s", name, error)
                continue
            machine.cluster.topics[name] = Topic(
                topic_id,
                {
                    number: Assignment(one.replicas, one.adding, one.removing)
                    for number, one in sorted(topic.partitions.items())
                },
            )
            for partition in machine.cluster.partitions_of(name):
                if partition not in machine.cluster.leaders:
                    await self._load_state(partition)

    async def _load_state(self, partition: TopicPartition) -> None:
        try:
            node = await self._tree.get(topic_nodes.state_path(partition))
            state = topic_nodes.decode_state(node.data)
        except NoNode:
            return
        except NodeDataError as error:
            _log.warning("state of %s is not understood: %s", partition, error)
            return
        self.machine.cluster.leaders[partition] = LeaderIsr(
            state.leader, state.leader_epoch, state.isr, state.controller_epoch, node.stat.version
        )

    # Deletion

    async def _deletions_changed(self) -> None:
        await self._load_deletions()
        await self._delete_topics()

    async def _load_deletions(self) -> None:
        names = await self._tree.children(
            partition_lists.DELETE_TOPICS_PATH,
            watch=self._watch("deletions", self._deletions_changed),
        )
        self.machine.cluster.deleting.update(dict.fromkeys(names))

    async def _delete_topics(self) -> None:
        deletion = TopicDeletion(self._tree, self.machine, self._deliver)
        for name in list(self.machine.cluster.deleting):
            await deletion.delete(name)

    # Acting

    async def _carry_out(self, writes: list[StateWrite]) -> None:
        assert self._states is not None
        try:
            written = await self._states.write(writes)
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


def _live_broker(
    broker_id: int, epoch: int, registration: broker_nodes.BrokerRegistration
) -> LiveBroker:
    endpoints = tuple(
        Listening(
            one.listener, one.host, one.port, SECURITY_PROTOCOLS.get(one.security_protocol, 0)
        )
        for one in registration.endpoints
    )
    return LiveBroker(broker_id, epoch, endpoints, registration.rack)
