"""One term of office of a controller: what it does about changes of the tree.

Every method named `…_changed` is a job: it first looks (setting the watch again) and then
acts on what it saw. Jobs run one after the other; the service runs them.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from moldau.controller.admin_nodes import AdminNodes
from moldau.controller.cluster import LiveBroker
from moldau.controller.controller import Controller, Plan
from moldau.controller.deletion import nodes_of
from moldau.controller.features import set_up_features
from moldau.controller.isr_changes import Refusals, plan_wishes
from moldau.controller.isr_changes import Wishes as IsrWishes
from moldau.controller.leader_elections import LeaderElections
from moldau.controller.lookout import Lookout
from moldau.controller.outbox import BrokerRequest, ReplicaStop
from moldau.controller.reassigning import Reassigning, Wishes
from moldau.controller.senders import Senders, errors_of
from moldau.controller.state_nodes import StateNodes
from moldau.controller.topic_ids import give_ids
from moldau.controller.topic_loading import TopicLoading
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout.cluster import FeatureNode
from moldau.coordination.layout.partitions import delete_topic_path
from moldau.coordination.tree import BadVersion, Watch, WatchEvent
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from moldau.protocol.messages.stop_replica import StopReplicaResponse

_log = logging.getLogger(__name__)

_LAST_WORDS_S = 1.0

Job = Callable[[], Awaitable[None]]
Schedule = Callable[[str, Job], None]
NewId = Callable[[], bytes]


class Deposed(Exception):
    """Another broker is controller now."""


@contextmanager
def _unless_deposed() -> Iterator[None]:
    """Every write is on condition that the controller's epoch is this one still."""
    try:
        yield
    except BadVersion as error:
        raise Deposed from error


class Term:
    """What a controller does from its election until it resigns."""

    def __init__(
        self,
        machine: Controller,
        reader: TreeReader,
        nodes: StateNodes,
        *,
        schedule: Schedule,
        deleted: Callable[[str], None] | None,
    ) -> None:
        """`schedule` has a job done after those that are due already, once for each name.

        `deleted` is called with every topic gone from the tree; None if topics are not deleted.
        """
        self.machine = machine
        self._reader = reader
        self._nodes = nodes
        self._schedule = schedule
        self._deleted = deleted
        self._topics = TopicLoading(machine.cluster, reader, self._watch_topic)
        self.elections = LeaderElections(machine, self._topics, self._carry_out)
        self._reassigning = Reassigning(machine, reader, nodes, self._carry_out)
        self._admin = AdminNodes(
            reader,
            machine.cluster,
            elect=self.elections.preferred,
            reassign=self.reassign,
            change=self._change,
        )
        # One and the same for every look: most brokers' nodes never change.
        self._brokers_watch = self._watch("brokers", self.brokers_changed)
        self._senders: Senders
        self._lookout: Lookout | None = None
        self._is_over = False

    async def begin(
        self,
        senders: Senders,
        lookout: Lookout | None,
        *,
        features: FeatureNode,
        new_topic_id: NewId | None,
    ) -> None:
        """Take over: drop old notifications, then read the state, send it and repair it.

        Without a `lookout` brokers are live until their sessions end. Topics without an id get
        one, unless there is no `new_topic_id`.
        """
        self._senders = senders
        self._lookout = lookout
        machine = self.machine
        with _unless_deposed():
            await set_up_features(self._reader, self._nodes, features)
        machine.cluster.brokers.update(await self._read_brokers())
        await self._forget_old_notifications()
        await self._topics.load(await self._read_topic_names())
        await self._load_deletions()
        if new_topic_id is not None:
            await self._give_ids(new_topic_id)
        machine.welcome(set(machine.cluster.brokers))
        # Before leaders are sent to anybody: in its old epoch none may lead on.
        await self._carry_out(machine.plan_returned)
        senders.go()
        await self.elections.offline()
        with _unless_deposed():
            await self._reassigning.resume()
        await self._delete_topics()
        await self._elections_asked()
        await self._moves_asked()

    def end(self) -> None:
        """No more requests, and no more changes from the tree."""
        self._is_over = True
        self._senders.stop()

    # Brokers

    async def brokers_changed(self) -> None:
        """Brokers have come, gone, or come back."""
        machine = self.machine
        known = machine.cluster.brokers
        unproven = set(machine.cluster.unproven)
        found = await self._read_brokers()
        # A broker that came back between two looks has another epoch.
        gone = {one for one in known if one not in found or found[one].epoch != known[one].epoch}
        come = {one for one in found if one not in known or one in gone}
        is_any_changed = any(found[one] != known[one] for one in found if one not in come)
        known.clear()
        known.update({one: broker for one, broker in found.items() if one not in come})
        if gone:
            self._senders.forget(gone)
            machine.note_gone(gone)
            await self.elections.lose(gone)
        known.update(found)
        if come:
            machine.welcome(come)
            self._senders.go()
            await self.elections.offline()
            await self._resume_moves()
            await self._delete_topics()
        elif unproven - machine.cluster.unproven:
            # Their sessions have ended as well: now nobody waits for them any more.
            await self.elections.offline()
        if is_any_changed:
            machine.outbox.add_live_brokers(known)
            self._senders.go()

    async def shut_down(self, broker_id: int) -> list[TopicPartition]:
        """A broker is about to stop; returns what it still leads although others could."""
        cluster = self.machine.cluster
        cluster.stopping.add(broker_id)
        await self.elections.reload_in_sync([broker_id])
        await self._carry_out(partial(self.machine.plan_shutdown, broker_id))
        for partition in cluster.partitions_on([broker_id]):
            state = cluster.leaders.get(partition)
            if state is not None and state.leader != broker_id:
                stop = ReplicaStop(state.leader_epoch, is_deletion=False)
                self.machine.outbox.add_stop_replica([broker_id], partition, stop)
        self._senders.go()
        if broker_id == self.machine.broker_id:
            # With this broker goes the controller: the next one would only begin to send.
            await self._senders.until_idle(timeout_s=_LAST_WORDS_S)
        return [
            partition
            for partition, state in cluster.leaders.items()
            if state.leader == broker_id and len(cluster.assignment(partition).replicas) > 1
        ]

    async def log_dirs_changed(self) -> None:
        """Log directories have failed: ask the brokers which replicas are gone with them."""
        found = await self._reader.log_dir_failures(
            self._watch("log directories", self.log_dirs_changed)
        )
        cluster = self.machine.cluster
        for broker in dict.fromkeys(found.values()):
            if broker is not None and broker in cluster.brokers:
                for partition in cluster.partitions_on([broker]):
                    self.machine.outbox.add_leader_and_isr([broker], partition)
        self._senders.go()
        await self._remove(list(found))

    def note_answer(self, request: BrokerRequest, answer: object) -> None:
        """A broker has answered a request."""
        if isinstance(answer, StopReplicaResponse):
            self.machine.deletions.note_answer(request.broker_id, answer)
            if self.machine.deletions.finished():
                self._schedule("end of deletions", self._finish_deletions)
        elif isinstance(answer, LeaderAndIsrResponse):
            assert isinstance(request.message, LeaderAndIsrRequest)
            errors = errors_of(request.message, answer)
            if self.machine.note_failures(request.broker_id, errors):
                failed = partial(self.elections.lose, [request.broker_id])
                self._schedule(f"failed replicas of {request.broker_id}", failed)

    # Topics

    async def topics_changed(self) -> None:
        """Topics have come or gone."""
        names = await self._read_topic_names()
        machine = self.machine
        there = set(names)
        for gone in [name for name in machine.cluster.topics if name not in there]:
            machine.cluster.forget(gone)
        new = [name for name in names if name not in machine.cluster.topics]
        await self._topics.load(new)
        await self._lead_new(new)

    async def _topic_changed(self, name: str) -> None:
        if name in self.machine.cluster.topics:
            await self._topics.load([name])
            await self._lead_new([name])

    async def _lead_new(self, names: Sequence[str]) -> None:
        cluster = self.machine.cluster
        partitions = [
            partition
            for name in names
            if name not in cluster.deleting
            for partition in cluster.partitions_of(name)
        ]
        await self._carry_out(lambda: self.machine.plan_new(partitions))

    # In-sync sets and moves

    async def isr_changed(self) -> None:
        """Leaders have written other in-sync sets."""
        found = await self._reader.isr_changes(self._watch("in-sync sets", self.isr_changed))
        cluster = self.machine.cluster
        changed = dict.fromkeys(
            partition
            for partitions in found.values()
            for partition in partitions
            if partition in cluster.leaders
        )
        await self._topics.reload(changed)
        self.machine.note_isr(changed)
        self._senders.go()
        await self._remove(list(found))
        await self._resume_moves()

    async def change_isr(self, wishes: IsrWishes) -> Refusals:
        """Write what leaders wish to be in sync; returns what is refused, and why."""
        machine = self.machine
        writes, refused = plan_wishes(machine.cluster, wishes, controller_epoch=machine.epoch)
        with _unless_deposed():
            written = await self._nodes.write(writes)
        machine.note_isr_written(written)
        self._senders.go()
        done = {write.partition for write, _ in written}
        late = [write.partition for write in writes if write.partition not in done]
        refused |= {one: KafkaError(ErrorCode.INVALID_UPDATE_VERSION) for one in late}
        await self._resume_moves()
        return refused

    async def reassign(self, wishes: Wishes) -> dict[TopicPartition, KafkaError]:
        """Move partitions to other brokers; returns which wishes cannot be granted, and why."""
        try:
            with _unless_deposed():
                return await self._reassigning.start(wishes)
        finally:
            self._senders.go()

    async def _resume_moves(self) -> None:
        await self.reassign({})
        await self._admin.look()

    async def _moves_asked(self) -> None:
        await self._admin.moves_asked(self._watch("asked moves", self._moves_asked))

    async def _elections_asked(self) -> None:
        await self._admin.elections_asked(self._watch("asked elections", self._elections_asked))

    # Deletion

    async def deletions_changed(self) -> None:
        """Topics have been marked for deletion."""
        await self._load_deletions()
        await self._delete_topics()

    async def _load_deletions(self) -> None:
        watch = self._watch("deletions", self.deletions_changed)
        names = await self._reader.deletions(watch)
        if self._deleted is not None:
            self.machine.cluster.deleting.update(dict.fromkeys(names))
        elif names:
            _log.info("delete.topic.enable is false: removed the deletion marks of %s", names)
            await self._remove([delete_topic_path(name) for name in names])

    async def _delete_topics(self) -> None:
        self.machine.deletions.begin()
        self._senders.go()
        await self._finish_deletions()

    async def _finish_deletions(self) -> None:
        deletions = self.machine.deletions
        for topic in deletions.finished():
            await self._remove(nodes_of(topic, self.machine.cluster.partitions_of(topic)))
            deletions.forget(topic)
            if self._deleted is not None:
                self._deleted(topic)

    # Looking

    async def _read_brokers(self) -> dict[int, LiveBroker]:
        """Those that are registered, without those whose processes are gone."""
        found = await self._reader.brokers(self._brokers_watch)
        lookout = self._lookout
        if lookout is None:
            return found
        own_id, cluster = self.machine.broker_id, self.machine.cluster
        lookout.watch([broker for broker in found.values() if broker.id != own_id])
        cluster.unproven = {broker.id for broker in found.values() if lookout.is_gone(broker)}
        return {one: broker for one, broker in found.items() if one not in cluster.unproven}

    async def _read_topic_names(self) -> list[str]:
        return await self._reader.topic_names(self._watch("topics", self.topics_changed))

    async def _forget_old_notifications(self) -> None:
        """All state is about to be read: earlier notifications are no news."""
        isr_watch = self._watch("in-sync sets", self.isr_changed)
        log_dir_watch = self._watch("log directories", self.log_dirs_changed)
        await self._remove([*await self._reader.isr_changes(isr_watch)])
        await self._remove([*await self._reader.log_dir_failures(log_dir_watch)])

    def _watch_topic(self, name: str) -> Watch:
        return self._watch(f"topic {name}", partial(self._topic_changed, name))

    def _watch(self, name: str, job: Job) -> Watch:
        """A watch that has a job done, unless this term of office is over by then."""

        def fired(_event: WatchEvent) -> None:
            if not self._is_over:
                self._schedule(name, job)

        return fired

    # Acting

    async def _carry_out(self, plan: Plan) -> None:
        """Write what is planned, and send it to the brokers.

        A leader may have written another in-sync set meanwhile: then that is read, and the
        plan made again for what there is now.
        """
        leaders = self.machine.cluster.leaders
        writes = plan()
        while writes:
            with _unless_deposed():
                written = await self._nodes.write(writes)
            for write, version in written:
                self.machine.note_written(write, version)
            self._senders.go()
            done = {write.partition for write, _ in written}
            refused = {one.partition: None for one in writes if one.partition not in done}
            before = {one: leaders.get(one) for one in refused}
            await self._topics.reload(refused)
            changed = {one for one in refused if leaders.get(one) != before[one]}
            writes = [one for one in plan() if one.partition in changed] if changed else []

    async def _give_ids(self, new_topic_id: NewId) -> None:
        with _unless_deposed():
            await give_ids(self.machine.cluster, self._reader, self._nodes, new_topic_id)

    async def _remove(self, paths: Sequence[str]) -> None:
        with _unless_deposed():
            await self._nodes.remove(paths)

    async def _change(self, path: str, data: bytes | None) -> None:
        if data is None:
            await self._remove([path])
            return
        with _unless_deposed():
            await self._nodes.change(path, data)
