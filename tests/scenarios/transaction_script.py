"""Plays transcripts about one transactional id: what producers ask, and what comes of it.

    [at TIME] [COMMAND NAME OPTION=VALUE ...] -> OUTCOME; OUTCOME ...

Time goes forward only; every deadline on the way is kept. A name stands for a producer, which
remembers the id and epoch it was given, even after another one has fenced it.

    set NAME=VALUE ...                 settings, before anything else
    init a [timeout=60s]               as a new producer
    again a [lost]                     as one that goes on after an error (KIP-360); it may
                                       not get the answer
    add a t-0 t-1 | verify a t-0
    end a commit | end a abort
    tell                               the partitions get their markers: `commit t-0 as 0/0`
    forget-old | describe | reload
    exhaust a                          the producer is given the last epoch of its id
    break ERROR | mend                 the journal refuses to append
"""

from collections.abc import Iterable, Iterator

from moldau.config.broker.transactions import TransactionConfig
from moldau.config.definition import read
from moldau.coordinator.decision import Decision
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.coordinator.transaction.records import TransactionRecord
from moldau.coordinator.transaction.state import TransactionState
from moldau.coordinator.transaction.transaction import LAST_EPOCH, ProducerIdentity, Transaction
from moldau.coordinator.transaction.transactions import Initialisation, Transactions
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.group_script import LINE, ScriptClock, milliseconds, partition_named, shown
from scenarios.memory_journal import MemoryJournal

ID = "tx"


class TransactionScript:
    """One transactional id, its journal, and the producers that the transcript names."""

    def __init__(self) -> None:
        self.clock = ScriptClock()
        self.config = read(TransactionConfig, {})
        self.journal = MemoryJournal()
        self.producers: dict[str, ProducerIdentity] = {}
        self.next_producer_id = 0
        self.shard = self._shard()

    def play(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Each line with the outcome it expects and the one that came."""
        for line in text.splitlines():
            match = LINE.match(line.partition("#")[0].strip())
            if match is None or not match.group():
                continue
            outcomes = []
            if match["time"]:
                outcomes += self._advance(milliseconds(match["time"]))
            if match["command"]:
                outcomes.append(self._run(match["command"].split()))
            yield line, match["outcome"] or "", "; ".join(each for each in outcomes if each)

    @property
    def now(self) -> Moment:
        return Moment(self.clock.time_ms, self.clock.time_ms)

    def _advance(self, until_ms: int) -> list[str]:
        assert until_ms >= self.clock.time_ms, "time goes forward"
        outcomes = []
        while True:
            due_ms = self.shard.machine.next_deadline_ms()
            if due_ms is None or due_ms > until_ms:
                break
            self.clock.time_ms = max(due_ms, self.clock.time_ms)
            outcomes += [error.code.name for error in self.shard.expire(now=self.now)]
        self.clock.time_ms = until_ms
        return outcomes

    def _run(self, words: list[str]) -> str:
        name, *rest = words
        options = dict(word.split("=", 1) for word in rest if "=" in word)
        plain = [word for word in rest if "=" not in word]
        method = getattr(self, f"_{name.replace('-', '_')}")
        try:
            outcome: str = method(plain, options)
        except KafkaError as error:
            return error.code.name
        return outcome

    # Commands

    def _set(self, _: list[str], options: dict[str, str]) -> str:
        self.config = read(TransactionConfig, options)
        self.shard = self._shard()
        return ""

    def _init(self, plain: list[str], options: dict[str, str]) -> str:
        return self._initialise(plain[0], None, options)

    def _again(self, plain: list[str], options: dict[str, str]) -> str:
        before = self.producers[plain[0]]
        outcome = self._initialise(plain[0], before, options)
        if "lost" in plain:
            self.producers[plain[0]] = before
        return outcome

    def _initialise(
        self, name: str, expected: ProducerIdentity | None, options: dict[str, str]
    ) -> str:
        asked = Initialisation(milliseconds(options.get("timeout", "60s")), expected)
        new_id = self.next_producer_id
        self.next_producer_id += self.shard.machine.needs_producer_id(ID, expected)
        decision = self.shard.machine.initialise(ID, asked, new_producer_id=new_id, now=self.now)
        self.shard.write(decision)
        if decision.reply is None:
            return "aborted first"
        self.producers[name] = decision.reply
        return f"producer {decision.reply.producer_id} epoch {decision.reply.epoch}"

    def _exhaust(self, plain: list[str], _: dict[str, str]) -> str:
        before = self.shard.machine.find(ID)
        assert before is not None
        transaction = Transaction(
            producer_id=before.producer_id,
            epoch=LAST_EPOCH,
            timeout_ms=before.timeout_ms,
            update_timestamp=self.clock.time_ms,
        )
        self.producers[plain[0]] = transaction.identity
        self.shard.write(Decision(None, [TransactionRecord(ID, transaction)]))
        return ""

    def _add(self, plain: list[str], _: dict[str, str]) -> str:
        name, *partitions = plain
        producer, added = self.producers[name], list(map(partition_named, partitions))
        machine = self.shard.machine
        before = self.journal.end_offset
        self.shard.write(machine.add_partitions(ID, producer, added, now=self.now))
        return "ok" if self.journal.end_offset > before else "ok, nothing written"

    def _verify(self, plain: list[str], _: dict[str, str]) -> str:
        name, *partitions = plain
        asked = map(partition_named, partitions)
        errors = self.shard.machine.verify(ID, self.producers[name], asked)
        return " ".join(f"{each}={shown(error)}" for each, error in errors.items())

    def _end(self, plain: list[str], _: dict[str, str]) -> str:
        name, outcome = plain
        self.shard.write(
            self.shard.machine.end(
                ID, self.producers[name], is_commit=outcome == "commit", now=self.now
            )
        )
        return "ok"

    def _tell(self, *_: object) -> str:
        machine = self.shard.machine
        outcomes = []
        for key in machine.take_prepared():
            transaction, log_offset = machine.find(key), machine.last_offset(key)
            assert transaction is not None
            assert log_offset is not None
            is_commit = transaction.state is TransactionState.PREPARE_COMMIT
            outcomes.append(
                f"{'commit' if is_commit else 'abort'} {listed(transaction.partitions)} "
                f"as {transaction.producer_id}/{transaction.epoch}"
            )
            self.shard.write(machine.complete(key, log_offset=log_offset, now=self.now))
        return "; ".join(outcomes) or "nobody"

    def _forget_old(self, *_: object) -> str:
        expired = self.shard.machine.forgettable(now=self.now)
        self.shard.write(Decision(None, [TransactionRecord(each, None) for each in expired]))
        return " ".join(expired) or "nothing"

    def _describe(self, *_: object) -> str:
        found = self.shard.machine.find(ID)
        if found is None:
            return "unknown"
        text = f"{found.state.label} {found.producer_id}/{found.epoch}"
        return f"{text} {listed(found.partitions)}".strip()

    def _reload(self, *_: object) -> str:
        self.shard.close()
        self.shard = self._shard()
        loading = Loading(self.journal, self.shard.machine, max_bytes=1)
        list(loading.replay(bytes(self.journal.data), now=self.now))
        self.shard.begin()
        return ""

    def _break(self, plain: list[str], _: dict[str, str]) -> str:
        self.journal.failure = KafkaError(ErrorCode[plain[0]])
        return ""

    def _mend(self, *_: object) -> str:
        self.journal.failure = None
        return ""

    def _shard(self) -> Shard[Transactions]:
        return Shard(
            Transactions(self.config), self.journal, ShardPorts(self.clock, Waiters(), 5.0)
        )


def listed(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(map(str, partitions))
