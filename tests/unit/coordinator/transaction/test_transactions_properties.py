"""What holds for transactions whatever producers, journals, brokers and the clock do.

Some producers share one transactional id, as instances of a service that take each other for
dead. Their batches may come late; markers come one by one; the coordinator changes at any time
and loses what was not committed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.config.broker.transactions import TransactionConfig
from moldau.coordinator.decision import Decision, Reply
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.coordinator.transaction.records import TransactionRecord
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import ProducerIdentity, Transaction
from moldau.coordinator.transaction.transactions import Initialisation, Transactions
from moldau.errors import ErrorCode, KafkaError
from moldau.log.verification import Guard
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.records.batch import Producer
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.group_script import ScriptClock
from scenarios.memory_journal import MemoryJournal
from unit.coordinator.transaction.leader import Leader

ID = "tx"
PARTITIONS = [TopicPartition("t", number) for number in range(3)]
INSTANCES = 2
CONFIG = TransactionConfig(transactional_id_expiration_ms=1_000_000)


@dataclass
class Late:
    """A batch that has been verified and is on its way into the log."""

    partition: TopicPartition
    producer: Producer
    value: str
    guard: Guard | None


@dataclass
class Instance:
    """A producer; what it believes may be long untrue."""

    name: str
    identity: ProducerIdentity | None = None
    added: list[TopicPartition] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    sequences: dict[TopicPartition, int] = field(default_factory=dict)
    late: list[Late] = field(default_factory=list)
    is_broken: bool = False  # it has to begin anew
    is_ending: bool = False  # it waits for an answer, which may be lost

    @property
    def is_able(self) -> bool:
        return self.identity is not None and not self.is_broken and not self.is_ending

    def begin(self, identity: ProducerIdentity) -> None:
        self.identity = identity
        self.is_broken = self.is_ending = False
        self.added, self.sent, self.sequences = [], [], {}


@dataclass
class World:
    """One transactional id under every kind of trouble."""

    clock: ScriptClock = field(default_factory=ScriptClock)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    leaders: dict[TopicPartition, Leader] = field(
        default_factory=lambda: {each: Leader() for each in PARTITIONS}
    )
    instances: list[Instance] = field(
        default_factory=lambda: [Instance(f"i{number}") for number in range(INSTANCES)]
    )
    # What is told when the journal is committed up to an offset.
    replies: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    # What is still to be told to partitions of what was prepared at an offset.
    markers: dict[int, tuple[Transaction, list[TopicPartition]]] = field(default_factory=dict)
    current: Instance | None = None
    committed: list[list[str]] = field(default_factory=list)
    doomed: set[str] = field(default_factory=set)
    transactions: list[list[str]] = field(default_factory=list)
    counter: int = 0

    def __post_init__(self) -> None:
        self.shard = self.new_shard()

    def new_shard(self) -> Shard[Transactions]:
        return Shard(Transactions(CONFIG), self.journal, ShardPorts(self.clock, Waiters(), 5.0))

    @property
    def now(self) -> Moment:
        return Moment(self.clock.time_ms, self.clock.time_ms)

    def count(self) -> int:
        self.counter += 1
        return self.counter

    # What can happen

    def initialise(self, one: Instance, _: int) -> None:
        identity = one.identity if one.is_broken and one is self.current else None
        asked = Initialisation(10_000, identity)

        def told(reply: ProducerIdentity | None) -> None:
            if reply is None:
                return
            if self.current is not None and self.current is not one:
                # From here on nothing of the other one may be committed any more.
                self.doomed.update(self.current.sent)
                self.doomed.update(late.value for late in self.current.late)
            if self.current is one:
                self.doomed.update(one.sent)
            self.current = one
            one.begin(reply)

        self.decide(
            lambda machine: machine.initialise(
                ID, asked, new_producer_id=self.count(), now=self.now
            ),
            told,
        )

    def add(self, one: Instance, number: int) -> None:
        identity, partition = one.identity, PARTITIONS[number]
        if identity is None or not one.is_able:
            return

        def told(_: None) -> None:
            if one.identity == identity:
                one.added.append(partition)

        self.decide(
            lambda machine: machine.add_partitions(ID, identity, [partition], now=self.now),
            told,
            one,
        )

    def send(self, one: Instance, number: int) -> None:
        """Verify a batch; it will be appended later."""
        partition = PARTITIONS[number]
        if one.identity is None or not one.is_able or partition not in one.added:
            return
        producers = self.leaders[partition].producers
        sequence = one.sequences.get(partition, 0)
        guard = None
        if not producers.has_open_transaction(one.identity.producer_id):
            guard = producers.verifications.begin(
                one.identity.producer_id, sequence=sequence, epoch=one.identity.epoch, now_ms=0
            )
            try:
                errors = self.shard.machine.verify(ID, one.identity, [partition])
            except KafkaError:
                errors = {partition: ErrorCode.CONCURRENT_TRANSACTIONS}
            if errors[partition] is not ErrorCode.NONE:
                one.is_broken = True
                return
        value = f"{one.name}:{self.count()}"
        one.sequences[partition] = sequence + 1
        producer = Producer(one.identity.producer_id, one.identity.epoch, sequence)
        one.late.append(Late(partition, producer, value, guard))
        if one is not self.current:
            self.doomed.add(value)

    def arrive(self, one: Instance, _: int) -> None:
        """The batches on their way come to their partitions."""
        for late in one.late:
            try:
                self.leaders[late.partition].append(late.producer, late.value, late.guard)
            except KafkaError:
                one.is_broken = True
            else:
                one.sent.append(late.value)
        one.late = []

    def commit(self, one: Instance, _: int) -> None:
        if not one.late:  # producers commit what they know to be in the log
            self.end(one, is_commit=True)

    def abort(self, one: Instance, _: int) -> None:
        self.end(one, is_commit=False)
        if one.late:
            one.is_broken = True

    def end(self, one: Instance, *, is_commit: bool) -> None:
        identity, sent = one.identity, one.sent
        if identity is None or not one.is_able or not one.added:
            return

        def told(_: None) -> None:
            if is_commit:
                self.committed.append(sent)
            if one.identity == identity:
                one.is_ending = False
                one.added = []

        if self.decide(
            lambda machine: machine.end(ID, identity, is_commit=is_commit, now=self.now), told, one
        ):
            # What comes of it is certain from here on, even if nobody hears of it.
            self.transactions.append(sent)
            one.is_ending, one.sent = True, []

    def work(self, one: Instance, number: int) -> None:
        """Do what producers mostly do, from the beginning if need be."""
        if not one.is_able:
            for _ in PARTITIONS:
                self.initialise(one, number)
                self.tell_one(one, number)
                self.settle()
        for partition in (number, (number + 1) % len(PARTITIONS)):
            self.add(one, partition)
            self.settle()
            self.send(one, partition)

    def tell_all(self, one: Instance, number: int) -> None:
        for _ in range(len(PARTITIONS) + 1):
            self.tell_one(one, number)

    def tell_one(self, _: Instance, number: int) -> None:
        """One partition gets its marker; with the last one the transaction is complete."""
        for key in self.shard.machine.take_prepared():
            transaction = self.shard.machine.find(key)
            log_offset = self.shard.machine.last_offset(key)
            assert transaction is not None
            assert log_offset is not None
            self.markers[log_offset] = (transaction, list(transaction.partitions))
        for log_offset, (transaction, left) in list(self.markers.items()):
            if log_offset >= self.journal.high_watermark:
                continue  # another coordinator could decide otherwise
            if left:
                is_commit = transaction.state is TransactionState.PREPARE_COMMIT
                partition = left.pop(number % len(left))
                self.leaders[partition].end(transaction.identity, is_commit=is_commit)
            if not left:
                step = self.shard.machine.complete(ID, log_offset=log_offset, now=self.now)
                if self.write(step):
                    del self.markers[log_offset]

    def wait(self, _: Instance, number: int) -> None:
        self.clock.time_ms += number * 6000
        if not self.shard.is_closed:
            list(self.shard.expire(now=self.now))

    def change_speed(self, _: Instance, number: int) -> None:
        self.journal.is_slow = number == 0
        if number != 0:
            self.journal.commit()

    def change_health(self, _: Instance, number: int) -> None:
        failure = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        self.journal.failure = failure if number == 0 else None

    def fail_over(self, _: Instance, number: int) -> None:
        if number == 0:
            self.journal.lose_uncommitted()
        self.shard.close()
        self.replies = [each for each in self.replies if each[0] <= self.journal.end_offset]
        self.markers = {}
        self.journal.failure = None
        self.shard = self.new_shard()
        self.load(self.shard)
        self.shard.begin()

    # What follows from it

    def load(self, shard: Shard[Transactions]) -> None:
        loading = Loading(self.journal, shard.machine, max_bytes=1)
        list(loading.replay(bytes(self.journal.data), now=self.now))

    def decide(
        self,
        decide: Callable[[Transactions], Decision[TransactionRecord, Reply]],
        told: Callable[[Reply], None],
        asker: Instance | None = None,
    ) -> bool:
        """Have something decided as the coordinator does it; says whether it was stored."""
        last_offset = self.shard.machine.last_offset(ID)
        if last_offset is not None and last_offset >= self.journal.high_watermark:
            return False
        try:
            decision = decide(self.shard.machine)
        except KafkaError as error:
            if asker is not None and error.code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                asker.is_broken = True
            return False
        if not self.write(decision):
            return False
        self.replies.append((self.journal.end_offset, lambda: told(decision.reply)))
        return True

    def write(self, decision: Decision[TransactionRecord, Reply]) -> bool:
        try:
            self.shard.write(decision)
        except KafkaError:
            return False
        return True

    def settle(self) -> None:
        for reply in list(self.replies):
            if reply[0] <= self.journal.high_watermark:
                self.replies.remove(reply)
                reply[1]()

    def check_reload(self) -> None:
        """What is in memory is what a new coordinator would read."""
        other = self.new_shard()
        self.load(other)
        assert other.machine.items() == self.shard.machine.items()
        assert other.machine.last_offset(ID) == self.shard.machine.last_offset(ID)

    def finish(self) -> None:
        """The trouble is over: whatever is open comes to its end."""
        self.journal.failure = None
        self.journal.is_slow = False
        self.journal.commit()
        self.settle()
        self.clock.time_ms += 1_000_000
        list(self.shard.expire(now=self.now))
        for _ in range(2 * len(PARTITIONS) + 2):
            self.tell_one(self.instances[0], 0)


ACTIONS = (
    World.initialise,
    World.add,
    World.send,
    *[World.work] * 6,
    *[World.arrive] * 5,
    *[World.commit] * 4,
    *[World.abort] * 2,
    *[World.tell_one] * 3,
    *[World.tell_all] * 3,
    *[World.wait] * 2,
    *[World.change_speed] * 2,
    *[World.change_health] * 2,
    World.fail_over,
)
steps = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS), st.integers(0, INSTANCES - 1), st.integers(0, len(PARTITIONS) - 1)
    ),
    min_size=20,
    max_size=150,
)


@settings(max_examples=200, deadline=None)
@given(steps)
def test_transactions_are_atomic_and_fenced_and_outlive_their_coordinators(
    steps: list[tuple[Callable[[World, Instance, int], None], int, int]],
) -> None:
    world = World()
    for action, instance, number in steps:
        action(world, world.instances[instance], number)
        world.settle()
        world.check_reload()
    world.finish()
    seen = [leader.visible() for leader in world.leaders.values()]
    visible = set().union(*seen)
    for sent in world.committed:
        assert visible.issuperset(sent), "something that was committed is missing"
    for sent in world.transactions:
        assert not visible & set(sent) or visible.issuperset(sent), "half of it is committed"
    assert not visible & world.doomed, "a fenced producer has committed something"
    for leader in world.leaders.values():
        assert leader.producers.first_undecided_offset is None, "a transaction hangs"
    found = world.shard.machine.find(ID)
    assert found is None or not found.state.is_prepared
    assert found is None or found.producer_id != NO_PRODUCER_ID
