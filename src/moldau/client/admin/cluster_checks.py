"""What is judged of a cluster's versions, disks and groups: the rules of `moldau doctor`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from moldau.client.admin.finding import Finding
from moldau.client.admin.group_offsets import CommittedOffset
from moldau.client.admin.groups import GroupDescription
from moldau.client.admin.log_dirs import LogDir
from moldau.model import TopicPartition
from moldau.protocol.apis import APIS

FREE_SHARE_MIN = 0.05
_SHOWN_MAX = 5
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """How far a group is, with the ends of the partitions that it has committed."""

    group: GroupDescription
    committed: Mapping[TopicPartition, CommittedOffset]
    first: Mapping[TopicPartition, int]
    end: Mapping[TopicPartition, int]


def versions(spoken: Mapping[int, Mapping[int, range]]) -> Iterator[Finding]:
    """Whether all brokers speak the same, and whether we can talk to them."""
    names = {api.key: api.name for api in APIS}
    ours = {api.key: api.versions for api in APIS}
    for node_id, known in spoken.items():
        shared = sorted(known.keys() & ours.keys())
        apart = [names[key] for key in shared if _is_apart(known[key], ours[key])]
        if apart:
            yield Finding(
                False,
                f"broker {node_id} and this client have no version in common of {some(apart)}",
                "pip install --upgrade moldau, or upgrade the broker.",
            )
    alike: dict[frozenset[tuple[int, range]], list[str]] = {}
    for node_id, known in spoken.items():
        alike.setdefault(frozenset(known.items()), []).append(str(node_id))
    if len(alike) > 1:
        parts = " and ".join(map(some, alike.values()))
        yield Finding(
            False,
            f"brokers {parts} speak different versions of the protocol",
            "Normal while brokers are upgraded. kafka-broker-api-versions.sh lists the versions.",
        )
    elif spoken:
        yield Finding(True, f"all {len(spoken)} brokers speak the same versions of the protocol")


def _is_apart(one: range, other: range) -> bool:
    return max(one.start, other.start) >= min(one.stop, other.stop)


def storage(node_id: int, directories: Mapping[str, LogDir]) -> Iterator[Finding]:
    """Directories that are offline, and disks that fill up."""
    for path, directory in sorted(directories.items()):
        where = f"{path} of broker {node_id}"
        if directory.error is not None:
            yield Finding(
                False,
                f"{where} is offline: {directory.error}",
                "Repair the disk, then restart the broker. Its log says what happened.",
            )
        elif directory.total_bytes > 0:
            share = directory.usable_bytes / directory.total_bytes
            free = f"{where}: {directory.usable_bytes / _GIB:,.1f} GiB free, {share:.0%}"
            yield Finding(share >= FREE_SHARE_MIN, free, "" if share >= FREE_SHARE_MIN else _FULL)


_FULL = (
    "A full disk takes the directory offline. Keep less of the largest topics: "
    "kafka-log-dirs.sh --describe shows them, kafka-configs.sh --alter --entity-type topics "
    "--entity-name TOPIC --add-config retention.bytes=N limits one."
)


def lag(progress: GroupProgress) -> Finding:
    """How far a group is behind, and whether what it wants to read is still there."""
    group = progress.group
    name = group.group_id
    behind = {
        place: progress.end[place] - each.offset
        for place, each in progress.committed.items()
        if place in progress.end
    }
    lost = [
        f"{place.topic}-{place.partition}"
        for place, each in progress.committed.items()
        if each.offset < progress.first.get(place, 0)
    ]
    if lost:
        return Finding(
            False,
            f"group {name}: records that it has not read were deleted in {some(lost)}",
            f"Longer retention, or faster members. {_DESCRIBE.format(name)}",
        )
    total = sum(max(each, 0) for each in behind.values())
    members = len(group.members)
    text = f"group {name}: {members} members, {total:,} records behind"
    if total and not members:
        return Finding(True, text, f"It has no members now. {_DESCRIBE.format(name)}")
    return Finding(True, text, _DESCRIBE.format(name) if total else "")


_DESCRIBE = "kafka-consumer-groups.sh --describe --group {} shows more."


def some(names: Iterable[str]) -> str:
    """The first few of many names."""
    listed = list(names)
    return ", ".join(listed[:_SHOWN_MAX]) + (", ..." if len(listed) > _SHOWN_MAX else "")
