"""Fetch sessions (KIP-227): what a client fetches, remembered between its requests.

A session begins with a full request and answer. From then on the client sends only
what changed, and gets only what changed. Request (id, epoch):

    (0, -1)  no session wanted          (0, 0)  a new session, please
    (n, -1)  end session n              (n, 0)  end session n, begin a new one
    (n, e)   the e-th incremental request of session n; anything else is refused

Sessions are bounded: when all slots are taken, a new one may only push out one that
was idle for long, or an old one that is worth less (followers' sessions are worth more
than consumers', larger ones more than smaller ones); otherwise it gets no session. So is
what all of them remember, or a few requests for partitions that do not exist would fill the
memory; a client without a session sends full requests, and is served all the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from moldau.broker.requests.fetch_request import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    ParsedFetch,
    PartitionKey,
    Wanted,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.security.principals import Principal

EVICTION_MS = 120_000
_EPOCH_MAX = 2**31 - 1
# Beyond those that are here: a client may know more of the cluster than this broker does.
STRANGE_PARTITIONS_MAX = 5_000
# A remembered partition takes about 600 bytes.
REMEMBERED_MAX = 100_000
# A follower has each partition in one session; ids are claimed, not proven.
_FOLLOWERS_MAX = 16
# Smaller sessions may grow without a look at the others.
_LOOKED_AT_FROM = 100


class Answer(Protocol):
    """What an answer says of one partition, as far as a session compares it."""

    @property
    def error_code(self) -> int: ...

    @property
    def high_watermark(self) -> int: ...

    @property
    def log_start_offset(self) -> int: ...

    @property
    def has_records(self) -> bool: ...

    @property
    def has_hint(self) -> bool:
        """A preferred read replica or a diverging epoch: the client must always get it."""


@dataclass(slots=True)
class _Remembered:
    wanted: Wanted
    high_watermark: int = -1
    log_start_offset: int = -1


@dataclass(slots=True)
class _Session:
    id: int
    created_ms: int
    used_ms: int
    uses_topic_ids: bool
    is_follower: bool
    principal: Principal
    # The order is the order of service: a partition with records moves to the end.
    partitions: dict[PartitionKey, _Remembered]
    epoch: int = 1

    @property
    def worth(self) -> tuple[bool, int]:
        return self.is_follower, len(self.partitions)


class Fetch:
    """One request within, or without, a session: what to read, and what to answer."""

    __slots__ = ("_session", "_wanted", "changed", "forgotten", "is_incremental")

    def __init__(
        self,
        wanted: Mapping[PartitionKey, Wanted],
        session: _Session | None,
        *,
        is_incremental: bool,
        forgotten: Iterable[PartitionKey] = (),
    ) -> None:
        """`wanted` and `forgotten` are what the request itself says."""
        self.changed = wanted
        self.forgotten = forgotten
        self.is_incremental = is_incremental
        self._session = session
        self._wanted: Mapping[PartitionKey, Wanted] | None = None

    @property
    def wanted(self) -> Mapping[PartitionKey, Wanted]:
        """All that is to be read, in this order."""
        if self._wanted is None:
            self._wanted = self.changed
            if self.is_incremental and self._session is not None:
                partitions = self._session.partitions
                self._wanted = {key: kept.wanted for key, kept in partitions.items()}
        return self._wanted

    def want(self, key: PartitionKey) -> Wanted | None:
        """What is wanted of one partition, None if nothing; only within a session."""
        assert self._session is not None
        kept = self._session.partitions.get(key)
        return None if kept is None else kept.wanted

    @property
    def session_id(self) -> int:
        """The id for the answer; `NO_SESSION` if there is none."""
        return NO_SESSION if self._session is None else self._session.id

    def select(self, answers: Mapping[PartitionKey, Answer]) -> list[PartitionKey]:
        """The partitions that the response must have; the session takes note."""
        session = self._session
        if session is None:
            return list(answers)
        sent = [
            key
            for key, answer in answers.items()
            if self._takes_note(session.partitions.get(key), answer) or not self.is_incremental
        ]
        for key in sent:
            if answers[key].has_records and key in session.partitions:
                session.partitions[key] = session.partitions.pop(key)
        return sent

    @staticmethod
    def _takes_note(remembered: _Remembered | None, answer: Answer) -> bool:
        if remembered is None:
            return True
        is_news = (
            answer.has_records
            or answer.has_hint
            or answer.error_code != ErrorCode.NONE
            or answer.high_watermark != remembered.high_watermark
            or answer.log_start_offset != remembered.log_start_offset
        )
        remembered.high_watermark = answer.high_watermark
        remembered.log_start_offset = answer.log_start_offset
        if answer.error_code != ErrorCode.NONE:
            # So that the end of the error is news as well.
            remembered.high_watermark = -1
        return is_news


class FetchSessions:
    """All sessions of one broker."""

    def __init__(
        self,
        slots_max: int,
        new_id: Callable[[], int],
        *,
        hosted: Callable[[], int] = lambda: 0,
    ) -> None:
        """`hosted` says how many partitions are here."""
        self._slots_max = slots_max
        self._hosted = hosted
        self._new_id = new_id
        # Least recently used first.
        self._sessions: dict[int, _Session] = {}
        self.evicted_count = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session_id: int) -> bool:
        return session_id in self._sessions

    def size_of(self, session_id: int) -> int:
        """How many partitions a session remembers; 0 if there is none."""
        session = self._sessions.get(session_id)
        return 0 if session is None else len(session.partitions)

    @property
    def partition_count(self) -> int:
        """How many partitions all sessions remember."""
        return sum(len(session.partitions) for session in self._sessions.values())

    def begin(self, request: ParsedFetch, *, now_ms: int) -> Fetch:
        """Take a request into its session; raises the error that ends or refuses it."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._end(request)
            is_first = request.session_epoch == INITIAL_EPOCH
            session = self._create(request, now_ms) if is_first else None
            return Fetch(request.wanted, session, is_incremental=False)
        return self._continue(request, now_ms)

    def _end(self, request: ParsedFetch) -> None:
        session = self._sessions.get(request.session_id)
        if session is not None and session.principal == request.client.principal:
            del self._sessions[session.id]

    def _continue(self, request: ParsedFetch, now_ms: int) -> Fetch:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        # To another than the one who began it, a session has no epoch that is right.
        is_own = session.principal == request.client.principal
        if not is_own or session.epoch != request.session_epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != request.uses_topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if not self._may_grow(session, request):
            # It begins again with a full request, which shows whether there is room.
            del self._sessions[session.id]
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        for key, wanted in request.wanted.items():
            kept = session.partitions.get(key)
            if kept is not None:
                kept.wanted = wanted
                if session.is_follower:
                    # It asks otherwise than before, and may have dropped what it was sent.
                    kept.high_watermark = -1
            else:
                session.partitions[key] = _Remembered(wanted)
        for key in request.forgotten:
            session.partitions.pop(key, None)
        del self._sessions[session.id]
        if not session.partitions:
            return Fetch({}, None, is_incremental=False)
        session.epoch = 1 if session.epoch == _EPOCH_MAX else session.epoch + 1
        session.used_ms = now_ms
        self._sessions[session.id] = session
        return Fetch(request.wanted, session, is_incremental=True, forgotten=request.forgotten)

    def forget_new(self, fetch: Fetch) -> None:
        """A session that has only just begun does not: the client gets none."""
        if not fetch.is_incremental:
            self._sessions.pop(fetch.session_id, None)

    def check_count(self, count: int) -> None:
        """Refuse a request of many more partitions than the broker has."""
        if count > STRANGE_PARTITIONS_MAX and count > STRANGE_PARTITIONS_MAX + self._hosted():
            message = f"{count} partitions are more than this broker can have"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)

    def _may_grow(self, session: _Session, request: ParsedFetch) -> bool:
        if len(request.wanted) <= _LOOKED_AT_FROM and len(session.partitions) <= _LOOKED_AT_FROM:
            return True
        added = sum(key not in session.partitions for key in request.wanted)
        if not added:
            return True
        size = len(session.partitions) + added
        if size > self._hosted() + STRANGE_PARTITIONS_MAX:
            return False
        return self._remembered(session.is_follower) + added <= self._remembered_max(session)

    def _remembered(self, is_follower: bool) -> int:
        return sum(
            len(session.partitions)
            for session in self._sessions.values()
            if session.is_follower == is_follower
        )

    def _remembered_max(self, session: _Session) -> int:
        return REMEMBERED_MAX + (_FOLLOWERS_MAX * self._hosted() if session.is_follower else 0)

    def _can_be_remembered(self, newcomer: _Session, now_ms: int) -> bool:
        """Whether there is room for its partitions, made by those that were idle for long."""
        excess = self._remembered(newcomer.is_follower) + len(newcomer.partitions)
        excess -= self._remembered_max(newcomer)
        leaving = []
        for session in self._sessions.values():
            if excess <= 0 or now_ms - session.used_ms <= EVICTION_MS:
                break
            if session.is_follower == newcomer.is_follower:
                leaving.append(session.id)
                excess -= len(session.partitions)
        if excess > 0:
            return False
        for session_id in leaving:
            del self._sessions[session_id]
        self.evicted_count += len(leaving)
        return True

    def _create(self, request: ParsedFetch, now_ms: int) -> _Session | None:
        session = _Session(
            id=self._unused_id(),
            created_ms=now_ms,
            used_ms=now_ms,
            uses_topic_ids=request.uses_topic_ids,
            is_follower=request.is_follower,
            principal=request.client.principal,
            partitions={key: _Remembered(wanted) for key, wanted in request.wanted.items()},
        )
        if not session.partitions or not self._can_be_remembered(session, now_ms):
            return None
        if not self._has_room_for(session, now_ms):
            return None
        self._sessions[session.id] = session
        return session

    def _unused_id(self) -> int:
        while (session_id := self._new_id()) in self._sessions or session_id == NO_SESSION:
            pass
        return session_id

    def _has_room_for(self, newcomer: _Session, now_ms: int) -> bool:
        if len(self._sessions) < self._slots_max:
            return True
        if not self._sessions:
            return False
        leaving = next(iter(self._sessions.values()))
        if now_ms - leaving.used_ms <= EVICTION_MS:
            established = [
                session
                for session in self._sessions.values()
                if (newcomer.is_follower and not session.is_follower)
                or now_ms - session.created_ms > EVICTION_MS
            ]
            if not established:
                return False
            leaving = min(established, key=lambda session: session.worth)
            if leaving.worth >= newcomer.worth:
                return False
        del self._sessions[leaving.id]
        self.evicted_count += 1
        return True
