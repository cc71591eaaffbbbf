"""Plays transcripts about one group: each line says what happens, and what comes of it.

    [at TIME] [COMMAND NAME OPTION=VALUE ...] -> OUTCOME; OUTCOME ...

Time goes forward only; every deadline on the way is kept. The first outcome is the answer to
the command; the others are parked answers that became known, as `name: answer`, in the order
they were parked in. A name is
also the id that the member gets; a member that was told its id joins with it again.

    set NAME=VALUE ...                         settings, before anything else
    join a session=10s rebalance=60s type=consumer protocols=range:x,sticky:y
                                               instance=i (static), version=4 or 9
    sync a assign=a:0-1,b:2                    generation= (else the one last heard)
    heartbeat a | leave a b | leave instance=i
    commit a t-0=5 | commit t-0=5              producer=7 (in a transaction), metadata=
    end 7 commit | end 7 abort                 of the transaction
    fetch t-0 | fetch all                      stable
    delete-offsets t-0 | delete | forget-old
    describe | reload
    break ERROR | mend                         the journal refuses to append
"""

import re
from collections.abc import Iterator

from moldau.config.broker.groups import GroupConfig
from moldau.config.definition import read
from moldau.coordinator.decision import PendingReply, RecordSource
from moldau.coordinator.group.groups import Groups
from moldau.coordinator.group.messages import (
    Committed,
    GroupJoin,
    JoinReply,
    MemberIdentity,
    Sync,
    SyncReply,
)
from moldau.coordinator.loading import Loading
from moldau.coordinator.shard import Shard, ShardPorts
from moldau.errors import ErrorCode, KafkaError
from moldau.model import NO_PRODUCER_ID, TopicPartition
from moldau.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.versioned import encode_versioned
from moldau.records.batch import NO_PRODUCER, Producer
from moldau.records.control import EndMarker, write_end_marker
from moldau.runtime.clock import Moment
from moldau.runtime.waiters import Waiters
from scenarios.memory_journal import MemoryJournal

GROUP = "g"
LINE = re.compile(r"(?:at (?P<time>\S+)\s*)?(?P<command>.*?)\s*(?:->\s*(?P<outcome>.*))?$")
UNITS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class ScriptClock:
    time_ms = 0

    def now_ms(self) -> int:
        return self.time_ms

    def monotonic_ms(self) -> int:
        return self.time_ms

    def monotonic_ns(self) -> int:
        return self.time_ms * 1_000_000


class GroupScript:
    """One group, its journal, and the members that the transcript names."""

    def __init__(self) -> None:
        self.clock = ScriptClock()
        self.config = read(GroupConfig, {})
        self.journal = MemoryJournal()
        self.parked: dict[PendingReply[JoinReply] | PendingReply[SyncReply], str] = {}
        self.known: dict[str, str] = {}  # instance ids and names that may join again, with ids
        self.generations: dict[str, int] = {}
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
                outcomes += self._run(match["command"].split())
            yield line, match["outcome"] or "", "; ".join(each for each in outcomes if each)

    def _advance(self, until_ms: int) -> list[str]:
        outcomes = []
        assert until_ms >= self.clock.time_ms, "time goes forward"
        while True:
            due_ms = self.shard.machine.next_deadline_ms()
            if due_ms is None or due_ms > until_ms:
                break
            self.clock.time_ms = max(due_ms, self.clock.time_ms)
            list(self.shard.expire(now=self.now))
            outcomes += self._answers()
        self.clock.time_ms = until_ms
        return outcomes

    @property
    def now(self) -> Moment:
        return Moment(self.clock.time_ms, self.clock.time_ms)

    def _run(self, words: list[str]) -> list[str]:
        name, *rest = words
        options = dict(word.split("=", 1) for word in rest if "=" in word)
        plain = [word for word in rest if "=" not in word]
        method = getattr(self, f"_{name.replace('-', '_')}")
        try:
            reply = method(plain, options)
        except KafkaError as error:
            reply = error.code.name
        return [reply, *self._answers()]

    def _answers(self) -> list[str]:
        known = [each for each in self.parked if each.reply is not None]
        return [f"{self.parked[each]}: {self._told(self.parked.pop(each), each)}" for each in known]

    def _told(self, name: str, answer: PendingReply[JoinReply] | PendingReply[SyncReply]) -> str:
        reply = answer.reply
        assert reply is not None
        return self._joined(name, reply) if isinstance(reply, JoinReply) else synced(reply)

    # Commands

    def _set(self, _: list[str], options: dict[str, str]) -> str:
        self.config = read(GroupConfig, options)
        self.shard = self._shard()
        return ""

    def _join(self, plain: list[str], options: dict[str, str]) -> str:
        (name,) = plain
        session_ms = milliseconds(options.get("session", "10s"))
        version = int(options.get("version", "3"))
        names = options.get("protocols", "range:t").split(",")
        join = GroupJoin(
            member_id=self.known.get(name, ""),
            instance_id=options.get("instance"),
            new_member_id=name,
            client_id=f"client-{name}",
            client_host="/127.0.0.1",
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=milliseconds(options.get("rebalance", f"{session_ms}ms")),
            protocol_type=options.get("type", "consumer"),
            protocols=tuple(map(protocol, names)) if names != [""] else (),
            must_know_id=version >= 4,
            can_skip_assignment=version >= 9,
        )
        decision = self.shard.machine.join(GROUP, join, now=self.now)
        self.shard.write(decision)
        if isinstance(decision.reply, PendingReply):
            self.known[name] = name
            self.parked[decision.reply] = name
            return "parked"
        return self._joined(name, decision.reply)

    def _joined(self, name: str, reply: JoinReply) -> str:
        if reply.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.known[name] = reply.member_id
        if reply.error is not ErrorCode.NONE:
            return reply.error.name
        self.known[name] = reply.member_id
        self.generations[name] = reply.generation
        text = f"generation {reply.generation} {reply.protocol_name}, leader {reply.leader_id}"
        if reply.members:
            text += f" of {' '.join(each.member_id for each in reply.members)}"
        return f"{text}, skip assignment" if reply.skip_assignment else text

    def _sync(self, plain: list[str], options: dict[str, str]) -> str:
        (name,) = plain
        assigned = [each.split(":") for each in options.get("assign", "").split(",") if each]
        sync = Sync(
            self._identity(name, options),
            options.get("type"),
            options.get("protocol"),
            {member: partitions.encode() for member, partitions in assigned},
        )
        decision = self.shard.machine.sync(GROUP, sync, now=self.now)
        try:
            self.shard.write(decision)
        except KafkaError as error:
            self.shard.machine.refuse_assignment(GROUP, error.code, now=self.now)
        if isinstance(decision.reply, PendingReply):
            self.parked[decision.reply] = name
            return "parked"
        return synced(decision.reply)

    def _heartbeat(self, plain: list[str], options: dict[str, str]) -> str:
        identity = self._identity(plain[0], options)
        return shown(self.shard.machine.heartbeat(GROUP, identity, now=self.now))

    def _leave(self, plain: list[str], options: dict[str, str]) -> str:
        leaving = [MemberIdentity(self.known.get(name, name)) for name in plain]
        if "instance" in options:
            member_id = leaving.pop().member_id if leaving else ""
            leaving.append(MemberIdentity(member_id, instance_id=options["instance"]))
        decision = self.shard.machine.leave(GROUP, leaving, now=self.now)
        self.shard.write(decision)
        return " ".join(map(shown, decision.reply))

    def _commit(self, plain: list[str], options: dict[str, str]) -> str:
        metadata = options.pop("metadata", "")
        producer = NO_PRODUCER
        if "producer" in options:
            producer = Producer(int(options.pop("producer")), 0, -1)
        expire_ms = milliseconds(options.pop("expires")) if "expires" in options else -1
        identity = self._identity(plain[0], options) if plain else MemberIdentity()
        offsets = {
            partition_named(key): Committed(
                int(value),
                metadata=metadata,
                commit_timestamp=self.clock.time_ms,
                expire_timestamp=expire_ms,
            )
            for key, value in options.items()
            if key not in ("generation", "instance")
        }
        decision = self.shard.machine.commit(
            GROUP, identity, offsets, now=self.now, producer=producer
        )
        self.shard.write(decision)
        return " ".join(map(shown, dict.fromkeys(decision.reply.values())))

    def _end(self, plain: list[str], _: dict[str, str]) -> str:
        producer_id, outcome = plain
        marker = write_end_marker(
            EndMarker(outcome == "commit", 0),
            producer_id=int(producer_id),
            producer_epoch=0,
            timestamp_ms=self.clock.time_ms,
        )
        self.journal.append(marker, None)
        self.shard.machine.end_transaction(int(producer_id), is_commit=outcome == "commit")
        return ""

    def _fetch(self, plain: list[str], _: dict[str, str]) -> str:
        names = [name for name in plain if name not in ("all", "stable")]
        partitions = None if "all" in plain else [partition_named(name) for name in names]
        fetched = self.shard.machine.fetch(GROUP, partitions, require_stable="stable" in plain)
        return " ".join(
            f"{name}={each.offset if each.error is ErrorCode.NONE else each.error.name}"
            for name, each in fetched.items()
        )

    def _delete_offsets(self, plain: list[str], _: dict[str, str]) -> str:
        decision = self.shard.machine.delete_offsets(GROUP, map(partition_named, plain))
        self.shard.write(decision)
        return " ".join(map(shown, decision.reply.values()))

    def _delete(self, *_: object) -> str:
        decision = self.shard.machine.delete(GROUP)
        self.shard.write(decision)
        return shown(decision.reply)

    def _forget_old(self, *_: object) -> str:
        for record in self.shard.machine.forget_expired(GROUP, now=self.now):
            self.shard.machine.apply([record], RecordSource(0, NO_PRODUCER_ID, self.now))
        return ""

    def _describe(self, *_: object) -> str:
        group = self.shard.machine.describe(GROUP)
        members = [
            f"{each.member_id}={each.assignment.decode()}"
            if group.protocol_name
            else each.member_id
            for each in group.members
        ]
        return " ".join([group.state, *filter(None, [group.protocol_name]), *members])

    def _reload(self, *_: object) -> str:
        self.shard.close()
        outcomes = self._answers()
        self.shard = self._shard()
        loading = Loading(self.journal, self.shard.machine, max_bytes=1)
        list(loading.replay(bytes(self.journal.data), now=self.now))
        self.shard.begin()
        return "; ".join(outcomes)

    def _break(self, plain: list[str], _: dict[str, str]) -> str:
        self.journal.failure = KafkaError(ErrorCode[plain[0]])
        return ""

    def _mend(self, *_: object) -> str:
        self.journal.failure = None
        return ""

    # Parts

    def _shard(self) -> Shard[Groups]:
        return Shard(Groups(self.config), self.journal, ShardPorts(self.clock, Waiters(), 5.0))

    def _identity(self, name: str, options: dict[str, str]) -> MemberIdentity:
        generation = int(options.get("generation", self.generations.get(name, -1)))
        return MemberIdentity(self.known.get(name, name), generation, options.get("instance"))


def milliseconds(text: str) -> int:
    match = re.fullmatch(r"(-?\d+)(\w+)", text)
    assert match, f"{text!r} is not a time"
    return int(match[1]) * UNITS[match[2]]


def protocol(text: str) -> tuple[str, bytes]:
    """`range:t` is the protocol range with a subscription to the topic t."""
    name, _, topics = text.partition(":")
    subscription = ConsumerProtocolSubscription(topics=topics.split("+"), user_data=None)
    return name, encode_versioned(subscription, 0)


def partition_named(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


def synced(reply: SyncReply) -> str:
    if reply.error is not ErrorCode.NONE:
        return reply.error.name
    return f"owns {reply.assignment.decode() or 'nothing'}"


def shown(error: ErrorCode) -> str:
    return "ok" if error is ErrorCode.NONE else error.name
