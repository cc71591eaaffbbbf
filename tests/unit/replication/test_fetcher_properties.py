"""Whatever happens to three replicas, what was acknowledged stays, and logs agree."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from moldau.errors import KafkaError
from unit.replication.replica_set import LAG_MS, Member, ReplicaSet

BROKERS = (1, 2, 3)
brokers = st.sampled_from(BROKERS)


class Replication(RuleBasedStateMachine):
    """Crashes, elections, lost answers and late requests, in any order.

    Elections are clean: the new leader is in sync. A crash keeps the page cache, but the
    high watermark comes back from a checkpoint that may be old.
    """

    truncates_by_fetch = False

    def __init__(self) -> None:
        super().__init__()
        self.replicas = ReplicaSet(count=3, truncates_by_fetch=self.truncates_by_fetch)
        self.written = 0
        self.pending: list[tuple[int, int, int, bytes]] = []
        self.acknowledged: dict[int, bytes] = {}
        self.delivered: dict[int, bytes | None] = {}

    # What happens

    @rule(asking=st.lists(brokers, min_size=1, max_size=8))
    def ask(self, asking: list[int]) -> None:
        for broker in asking:
            self.replicas.ask(broker)
        self._see_acknowledgements()

    @rule(repetitions=st.integers(1, 3))
    def everyone_asks(self, repetitions: int) -> None:
        self.ask(list(BROKERS) * repetitions)

    @rule(broker=brokers)
    def ask_without_hearing(self, broker: int) -> None:
        self.replicas.ask(broker, is_answer_lost=True)
        self._see_acknowledgements()

    @rule(count=st.integers(1, 3))
    def produce(self, count: int) -> None:
        """To whoever thinks that it leads, a deposed leader too."""
        for member in self.replicas.members.values():
            if member.leads:
                self._produce(member, count)
        self._see_acknowledgements()

    def _produce(self, member: Member, count: int) -> None:
        for _ in range(count):
            self.written += 1
            value = b"%d" % self.written
            try:
                end_offset = self.replicas.append(member.id, value)
            except KafkaError:
                return
            epoch = member.partition.state.leader_epoch
            self.pending.append((member.id, epoch, end_offset, value))

    @rule(broker=brokers, told=st.sets(brokers))
    def crash(self, broker: int, told: set[int]) -> None:
        """A broker goes, and the controller, which sees it, does what it does then."""
        member = self.replicas.members[broker]
        if not member.is_up:
            return
        member.crash()
        node = self.replicas.node
        isr = tuple(one for one in node.isr if one != broker) or node.isr
        live = [one for one in isr if self.replicas.members[one].is_up]
        if node.leader == broker:
            self.replicas.elect(live[0] if live else -1, isr=isr)
        else:
            self.replicas.elect(node.leader, isr=isr)
        self.replicas.tell(*sorted(told))

    @rule(broker=brokers, staleness=st.integers(0, 3))
    def start(self, broker: int, staleness: int) -> None:
        member = self.replicas.members[broker]
        if member.is_up:
            return
        member.start(high_watermark=max(0, member.log.high_watermark - staleness))
        node = self.replicas.node
        if node.leader == -1 and broker in node.isr:
            self.replicas.elect(broker, isr=node.isr)
        self.replicas.tell(broker)

    @rule(broker=brokers, staleness=st.integers(0, 3))
    def bounce(self, broker: int, staleness: int) -> None:
        """Too quick for the controller to see; it only tells the broker its place again."""
        member = self.replicas.members[broker]
        if member.is_up and not member.leads:
            member.crash()
            self.start(broker, staleness)

    @rule(broker=brokers)
    def elect_preferred(self, broker: int) -> None:
        if broker in self.replicas.node.isr and self.replicas.members[broker].is_up:
            self.replicas.elect(broker)

    @rule(told=st.sets(brokers))
    def tell(self, told: set[int]) -> None:
        self.replicas.tell(*sorted(told))
        self._see_acknowledgements()

    @rule(broker=brokers, late_ms=st.sampled_from((0, LAG_MS // 2, 2 * LAG_MS)))
    def look_at_isr(self, broker: int, late_ms: int) -> None:
        self.replicas.now_ms += late_ms
        if self.replicas.members[broker].leads:
            self.replicas.propose(broker)

    @rule(broker=brokers)
    def write_isr(self, broker: int) -> None:
        if self.replicas.members[broker].is_up:
            self.replicas.write_isr(broker)
        self._see_acknowledgements()

    def _see_acknowledgements(self) -> None:
        waiting = []
        for broker, epoch, end_offset, value in self.pending:
            member = self.replicas.members[broker]
            if not member.leads or member.partition.state.leader_epoch != epoch:
                continue  # the producer hears of an error: nothing is promised
            try:
                is_committed = member.partition.is_committed(end_offset)
            except KafkaError:
                continue
            if is_committed:
                self.acknowledged[end_offset - 1] = value
            else:
                waiting.append((broker, epoch, end_offset, value))
        self.pending = waiting

    # What must hold at any time

    @invariant()
    def an_acknowledged_record_is_on_every_replica_that_is_in_sync(self) -> None:
        """So whoever is elected next has it."""
        for broker in self.replicas.node.isr:
            values = self.replicas.members[broker].values()
            for offset, value in self.acknowledged.items():
                assert values[offset : offset + 1] == [value], (broker, offset, values)

    @invariant()
    def what_a_consumer_may_have_read_never_changes(self) -> None:
        for member in self.replicas.members.values():
            if not member.leads:
                continue
            values = member.values(end_offset=member.log.high_watermark)
            for offset, value in enumerate(values):
                assert self.delivered.setdefault(offset, value) == value, (member.id, offset)

    @invariant()
    def logs_agree_up_to_both_high_watermarks(self) -> None:
        members = list(self.replicas.members.values())
        for first in members:
            for second in members:
                end = min(first.log.high_watermark, second.log.high_watermark)
                assert first.values(end_offset=end) == second.values(end_offset=end)

    @invariant()
    def the_leaders_high_watermark_is_at_most_what_all_in_sync_have(self) -> None:
        node = self.replicas.node
        member = self.replicas.members.get(node.leader)
        if member is None or not member.leads:
            return
        if member.partition.state.leader_epoch == node.leader_epoch:
            ends = [self.replicas.members[one].log.log_end_offset for one in node.isr]
            assert member.log.high_watermark <= min(ends)

    @precondition(lambda self: all(one.is_up for one in self.replicas.members.values()))
    @rule()
    def heal(self) -> None:
        """With everybody up and told, all logs become the same."""
        node = self.replicas.node
        self.replicas.elect(node.isr[0])
        self.replicas.tell(*BROKERS)
        for _ in range(3):
            self.replicas.settle()
            self.replicas.write_isr(node.isr[0])
        logs = [member.values() for member in self.replicas.members.values()]
        assert logs[0] == logs[1] == logs[2]
        marks = {member.log.high_watermark for member in self.replicas.members.values()}
        assert marks == {len(logs[0])}
        assert set(self.replicas.node.isr) == set(BROKERS)


class ReplicationByFetch(Replication):
    """The same with leaders that say in their answers where the logs part (KIP-595)."""

    truncates_by_fetch = True


LIMITS = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestReplication = Replication.TestCase
TestReplication.settings = LIMITS
TestReplicationByFetch = ReplicationByFetch.TestCase
TestReplicationByFetch.settings = LIMITS
