"""Why a group is behind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.console.why.diagnosis import Diagnosis, LikelyCause, command, some
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.groups import GroupDescription
    from moldau.console.lag import GroupLag

_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_HOT_SHARE = 4  # all lag in a quarter of the partitions, or fewer
_HOT_PARTITIONS_MIN = 4


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What is known of a group."""

    group: "GroupDescription"
    lag: "GroupLag"
    servers: str
    points: Sequence[tuple[int, int]] = ()
    """The lag at times in milliseconds."""
    held: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Where open transactions end what can be read, though records follow."""
    quotas: Sequence[str] = ()
    """Clients of the group that brokers slow down."""

    @property
    def is_closing(self) -> bool | None:
        """Whether the lag shrinks; None if it was not watched for long enough."""
        if len(self.points) < 2 or self.points[-1][0] - self.points[0][0] < 4000:
            return None
        return self.points[-1][1] < self.points[0][1]


def why_group(state: GroupFacts) -> Diagnosis:
    """What is known of its lag, and what it may be due to."""
    group, lag = state.group, state.lag
    behind = sorted(
        ((each.lag or 0, partition) for partition, each in lag.partitions.items()), reverse=True
    )
    least, some_behind = "at least " if lag.is_partial else "", [each for each in behind if each[0]]
    known = [
        f"{group.group_id} is {group.state or 'unknown'} with {len(group.members)} members",
        f"{least}{lag.total} records behind in {len(some_behind)} of {len(behind)} partitions",
    ]
    if lag.error:
        known.append(f"Its offsets cannot be read: {lag.error}")
    if state.is_closing is not None and lag.total:
        known.append(f"Its lag {'shrinks' if state.is_closing else 'does not shrink'}")
    causes = [*_lost(state), *_held(state), *_unknown(state)]
    if lag.total:
        causes += [*_members(state), *_shares(state, some_behind)]
    return Diagnosis(known, causes)


def _lost(state: GroupFacts) -> Iterable[LikelyCause]:
    gone = [
        str(partition)
        for partition, each in state.lag.partitions.items()
        if each.start is not None and each.committed < each.start
    ]
    if gone:
        yield LikelyCause(
            f"Records that it had not read are deleted: {some(gone)}",
            "Retention was faster than the group. It goes on where auto.offset.reset says; "
            "longer retention (retention.ms, retention.bytes) gives it more time.",
            is_certain=True,
        )
    beyond = [
        str(partition)
        for partition, each in state.lag.partitions.items()
        if each.end is not None and each.committed > each.end
    ]
    if beyond:
        yield LikelyCause(
            f"Its offsets lie behind the end: {some(beyond)}",
            "The topic was deleted and made again, or lost records by an unclean election. It "
            "goes on where auto.offset.reset says; a reset sets it right.",
            is_certain=True,
            page=("groups", state.group.group_id),
        )


def _held(state: GroupFacts) -> Iterable[LikelyCause]:
    if state.held:
        names = [f"{partition} at {offset}" for partition, offset in sorted(state.held.items())]
        yield LikelyCause(
            f"A transaction is open: who reads committed records waits at {some(names)}",
            "It ends by its producer, or by its timeout; one that hangs has to be aborted.",
            is_certain=True,
            page=("transactions", "hanging"),
        )


def _unknown(state: GroupFacts) -> Iterable[LikelyCause]:
    unknown = [
        str(partition) for partition, each in state.lag.partitions.items() if each.lag is None
    ]
    if unknown:
        yield LikelyCause(
            f"The end of {some(unknown)} is not known: their leaders do not answer",
            "What has no leader can be neither read nor written.",
            is_certain=True,
            page=("why", "partitions"),
        )


def _members(state: GroupFacts) -> Iterable[LikelyCause]:
    group, partitions = state.group, len(state.lag.partitions)
    if not group.members:
        yield LikelyCause(
            "It has no members: nothing reads for it",
            "Start its consumers. If the records are not wanted any more, set its offsets to "
            "the end; the plan is shown first.",
            is_certain=True,
            command=command(
                *("moldau", "consumer-groups", "--reset-offsets", "--to-latest", "--dry-run"),
                *("--all-topics", "--group", group.group_id),
                *("--bootstrap-server", state.servers),
            ),
            page=("groups", group.group_id),
        )
    if group.state in _REBALANCING:
        yield LikelyCause(
            f"It is {group.state}: nobody reads until all members agree",
            "If it lasts, members come and go, or take longer than max.poll.interval.ms for the "
            "records of one poll: let max.poll.records be less.",
        )
    idle = [each for each in group.members if not each.assignment]
    if idle and len(group.members) > partitions:
        yield LikelyCause(
            f"{len(idle)} of its {len(group.members)} members are idle: there are only "
            f"{partitions} partitions",
            "More members do not help; more partitions would, for keys that are new.",
        )
    if state.quotas:
        yield LikelyCause(
            f"Brokers slow its clients down by a quota: {some(list(state.quotas))}",
            "See whether consumer_byte_rate is what they need.",
            page=("access", "quotas"),
        )


def _shares(state: GroupFacts, behind: list[tuple[int, TopicPartition]]) -> Iterable[LikelyCause]:
    members, partitions = len(state.group.members), len(state.lag.partitions)
    if not members:
        return
    if partitions >= _HOT_PARTITIONS_MIN and len(behind) * _HOT_SHARE <= partitions:
        names = [f"{partition} ({number})" for number, partition in behind]
        yield LikelyCause(
            f"All of the lag is in {some(names)}",
            "Keys that are written often come to one partition, or its member hangs on a record "
            "that it cannot process: look at the record at its offset.",
            page=("topics", behind[0][1].topic),
        )
    elif state.is_closing is False and members < partitions:
        yield LikelyCause(
            f"{members} members read {partitions} partitions, and do not catch up",
            "More members would share the work, up to one for each partition.",
        )
    elif state.is_closing is False:
        yield LikelyCause(
            "Records arrive as fast as they are read, or faster",
            "Let the work on a record take less time, or give the topic more partitions.",
        )
