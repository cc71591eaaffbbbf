"""Create, list, describe, change and delete topics (kafka-topics.sh)."""

import json
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.client_settings import read_pairs
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import (
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Given,
    Option,
    Options,
)
from moldau.cli.terminal.patterns import read_pattern
from moldau.client.admin.configs import ConfigEntry, ConfigResource, ConfigsArea
from moldau.client.admin.connected import Connected
from moldau.client.admin.reassignments import ReassignmentsArea
from moldau.client.admin.topics import (
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicsArea,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

ACTIONS = ("list", "describe", "create", "alter", "delete")
FILTERS = (
    "under-replicated-partitions",
    "unavailable-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "topics-with-overrides",
)
_ONLY_WITH = {
    "config": ("create", "alter"),
    "delete-config": ("alter",),
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "if-not-exists": ("create",),
    "if-exists": ("alter", "delete", "describe"),
    "exclude-internal": ("list", "describe"),
    "topic-id": ("describe",),
    **dict.fromkeys(FILTERS, ("describe",)),
}
_COLLISION = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') "
    "could collide. To avoid issues it is best to use either, but not both."
)

OPTIONS = Options(
    "topics",
    "Creates, lists, describes, changes and deletes topics.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option("zookeeper", "As before 3.0: read and write ZooKeeper instead.", "SERVERS"),
    Option("list", "Print the names of topics."),
    Option("describe", "Print partitions, leaders, replicas and settings."),
    Option("create", "Create a topic."),
    Option("alter", "Change the number of partitions."),
    Option("delete", "Delete a topic."),
    Option("topic", "The topic; a pattern, except with --create.", "TOPIC"),
    Option("topic-id", "The topic's id, for --describe.", "ID"),
    Option("partitions", "How many partitions.", "COUNT", kind=int),
    Option("replication-factor", "How many replicas each partition has.", "COUNT", kind=int),
    Option("replica-assignment", "Brokers by partition: 1:2,2:3 for two of them.", "BROKERS"),
    Option("config", "A setting of the new topic.", "NAME=VALUE"),
    Option("delete-config", "Refused: see `moldau configs`.", "NAME"),
    Option("if-exists", "Do nothing if the topic does not exist."),
    Option("if-not-exists", "Do nothing if the topic exists."),
    Option("exclude-internal", "Leave out the brokers' own topics."),
    Option("under-replicated-partitions", "Only partitions with replicas that are not in sync."),
    Option("unavailable-partitions", "Only partitions without a leader."),
    Option(
        "under-min-isr-partitions", "Only partitions with fewer than min.insync.replicas in sync."
    ),
    Option("at-min-isr-partitions", "Only partitions with exactly min.insync.replicas in sync."),
    Option("topics-with-overrides", "Only topics with settings of their own."),
    Option("partition-size-limit-per-response", "Ignored, for old scripts.", "COUNT"),
    Option("force", "Ignored, for old scripts."),
    Option("disable-rack-aware", "Ignored: brokers place replicas."),
)


Described = tuple[TopicDescription, Mapping[str, ConfigEntry]]


class TopicAdmin(TopicsArea, ConfigsArea, ReassignmentsArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    check(given)
    try:
        if "zookeeper" in given:
            given.refuse_json("--zookeeper")
            from moldau.cli.znodes.topics import run_with_zookeeper  # noqa: PLC0415 - seldom

            wanted = new_topic(given) if "create" in given else None
            return run_with_zookeeper(given, action(given), wanted)
        run_admin(given, TopicAdmin, lambda admin: _ACTIONS_OF[action(given)](admin, given))
    except KafkaError as error:
        print(f"Error while executing topic command : {error}")
        return 1
    return 0


def action(given: Given) -> str:
    """The one thing that is to be done."""
    (name,) = (each for each in ACTIONS if each in given)
    return name


def check(given: Given) -> None:
    """End unless the options fit together."""
    if sum(name in given for name in ACTIONS) != 1:
        raise CommandFailed(
            "Command must include exactly one action: "
            "--list, --describe, --create, --alter or --delete"
        )
    if "bootstrap-server" not in given and "zookeeper" not in given:
        raise CommandFailed("--bootstrap-server must be specified")
    if "describe" in given:
        given.refuse("topic-id", "topic")
    if "create" in given or "delete" in given or "alter" in given:
        given.require("topic")
    if "zookeeper" in given and "create" in given and "replica-assignment" not in given:
        given.require("partitions", "replication-factor")
    if "alter" in given and "zookeeper" not in given:
        given.refuse("alter", "delete-config")
        if "config" in given:
            raise CommandFailed(
                'Option combination "[[bootstrap-server], [config]]" can\'t be used with option '
                '"[alter]" (the kafka-configs CLI supports altering topic configs with a '
                "--bootstrap-server option)"
            )
        given.require("partitions")
    for option, actions in _ONLY_WITH.items():
        for other in ACTIONS:
            if other not in actions:
                given.refuse(option, other)
    if "replica-assignment" in given and "create" in given:
        given.refuse("partitions", "replica-assignment")
        given.refuse("replication-factor", "replica-assignment")
    for option in ("partitions", "replication-factor"):
        if option in given and given.number(option) < 1:
            kind = option.replace("-", " ")
            text = f"The {kind} must be greater than 0"
            print(f"Error while executing topic command : {text}")
            raise CommandFailed("")


def new_topic(given: Given) -> NewTopic:
    """What `--create` is to create."""
    name = given.text("topic")
    if "." in name or "_" in name:
        print(_COLLISION)
    return NewTopic(
        name,
        partitions=given.number("partitions", -1),
        replication_factor=given.number("replication-factor", -1),
        replicas=dict(enumerate(assignment(given.text("replica-assignment")))),
        configs=dict(read_pairs(given.texts("config"))),
    )


def assignment(text: str) -> list[list[int]]:
    """Brokers of each partition, from 1:2,2:3."""
    try:
        found = [[int(broker) for broker in part.split(":")] for part in text.split(",") if part]
    except ValueError:
        raise CommandFailed(f"--replica-assignment {text}: broker numbers are expected") from None
    for partition, brokers in enumerate(found):
        if len(set(brokers)) < len(brokers):
            raise CommandFailed(
                "Error while executing topic command : Partition replica lists may not contain "
                f"duplicate entries: {max(brokers, key=brokers.count)}"
            )
        if len(brokers) != len(found[0]):
            raise CommandFailed(
                "Error while executing topic command : "
                f"Partition {partition} has different replication factor: {brokers}"
            )
    return found


async def _create(admin: TopicAdmin, given: Given) -> None:
    topic = new_topic(given)
    try:
        (await admin.create_topics([topic])).check()
    except KafkaError as error:
        if error.code is ErrorCode.TOPIC_ALREADY_EXISTS and "if-not-exists" in given:
            return
        raise
    print(f"Created topic {topic.name}.")


async def _list(admin: TopicAdmin, given: Given) -> None:
    found = await _names(admin, given)
    if given.is_json:
        print(json.dumps(found))
    elif found:
        print("\n".join(found))


async def _delete(admin: TopicAdmin, given: Given) -> None:
    found = _expect(await _names(admin, given), given)
    (await admin.delete_topics(found)).check()


async def _alter(admin: TopicAdmin, given: Given) -> None:
    found = _expect(await _names(admin, given), given)
    wanted = given.number("partitions")
    described = await admin.describe_topics(found)
    brokers = assignment(given.text("replica-assignment"))
    growth = {
        name: NewPartitions(wanted, brokers[len(described[name].partitions) :] or None)
        for name in found
    }
    (await admin.create_partitions(growth)).check()


async def _describe(admin: TopicAdmin, given: Given) -> None:
    if "topic-id" in given:
        wanted = given.text("topic-id")
        listed = await admin.list_topics(include_internal=True)
        found = [name for name, each in listed.items() if each.topic_id == wanted]
        if not found and "if-exists" not in given:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_ID, f"TopicId '{wanted}' does not exist as expected"
            )
    else:
        found = await _names(admin, given)
        if "topic" in given:
            _expect(found, given)
    described = (await admin.describe_topics(found)).succeeded
    resources = [ConfigResource.topic(name) for name in described]
    configs = (await admin.describe_configs(resources)).succeeded if resources else {}
    topics = [
        (topic, configs.get(ConfigResource.topic(name), {})) for name, topic in described.items()
    ]
    moving: set[TopicPartition] = set()
    if "under-replicated-partitions" in given or "at-min-isr-partitions" in given:
        moving = set(await admin.list_partition_reassignments())
    wanted_filters = [name for name in FILTERS if name in given]
    if given.is_json:
        shown = [as_data(*each) for each in selected(topics, wanted_filters, moving)]
        print(json.dumps(shown))
        return
    for line in described_lines(topics, wanted_filters, moving):
        print(line)


def selected(
    topics: Iterable[Described], filters: Sequence[str], moving: Container[TopicPartition]
) -> Iterator[Described]:
    """What filters leave of topics and their partitions."""
    for topic, configs in topics:
        if not filters:
            yield topic, configs
        elif "topics-with-overrides" in filters:
            if any(not each.is_default for each in configs.values()):
                yield topic, configs
        elif left := list(_selected_partitions(topic, configs, filters, moving)):
            yield replace(topic, partitions=left), configs


def _selected_partitions(
    topic: TopicDescription,
    configs: Mapping[str, ConfigEntry],
    filters: Sequence[str],
    moving: Container[TopicPartition],
) -> Iterator[PartitionDescription]:
    min_isr = configs.get("min.insync.replicas")
    needed = int(min_isr.value or 1) if min_isr is not None else 1
    for each in topic.partitions:
        is_moving = TopicPartition(topic.name, each.partition) in moving
        if not filters or is_selected(each, filters, needed, is_moving=is_moving):
            yield each


def described_lines(
    topics: Iterable[Described],
    filters: Sequence[str],
    moving: Container[TopicPartition] = frozenset(),
) -> Iterator[str]:
    """What `--describe` prints."""
    for topic, configs in topics:
        own = {name: each.value for name, each in configs.items() if not each.is_default}
        if not filters or ("topics-with-overrides" in filters and own):
            settings = ",".join(f"{name}={value}" for name, value in own.items())
            yield (
                f"Topic: {topic.name}\tTopicId: {topic.topic_id}\t"
                f"PartitionCount: {len(topic.partitions)}\t"
                f"ReplicationFactor: {replication_factor(topic)}\tConfigs: {settings}"
            )
        if "topics-with-overrides" in filters:
            continue
        for each in _selected_partitions(topic, configs, filters, moving):
            yield partition_line(topic.name, each)


def partition_line(topic: str, each: PartitionDescription) -> str:
    """One partition of a described topic."""
    leader = each.leader if each.leader >= 0 else "none"
    replicas, isr = (",".join(map(str, brokers)) for brokers in (each.replicas, each.isr))
    return (
        f"\tTopic: {topic}\tPartition: {each.partition}\tLeader: {leader}\t"
        f"Replicas: {replicas}\tIsr: {isr}\tElr: N/A\tLastKnownElr: N/A"
    )


def is_selected(
    each: PartitionDescription, filters: Sequence[str], min_isr: int, *, is_moving: bool
) -> bool:
    """Whether one of the filters wants a partition; a move is not counted as a fault."""
    is_behind = len(each.isr) < len(each.replicas) and not is_moving
    return (
        ("under-replicated-partitions" in filters and is_behind)
        or ("unavailable-partitions" in filters and each.leader < 0)
        or ("under-min-isr-partitions" in filters and len(each.isr) < min_isr)
        or ("at-min-isr-partitions" in filters and len(each.isr) == min_isr and not is_moving)
    )


def as_data(topic: TopicDescription, configs: Mapping[str, ConfigEntry]) -> dict[str, object]:
    """A described topic for `--format json`."""
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "replication_factor": replication_factor(topic),
        "configs": {name: each.value for name, each in configs.items() if not each.is_default},
        "partitions": [
            {
                "partition": each.partition,
                "leader": each.leader if each.leader >= 0 else None,
                "replicas": each.replicas,
                "isr": each.isr,
            }
            for each in topic.partitions
        ],
    }


def replication_factor(topic: TopicDescription) -> int:
    """How many brokers the first partition has, as Apache's tool counts."""
    return len(topic.partitions[0].replicas) if topic.partitions else 0


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that a pattern stands for; a list with commas is a pattern too."""
    if not pattern:
        return sorted(names)
    wanted = read_pattern(pattern.strip("\"'").replace(" ", ""))
    return sorted(name for name in names if wanted.fullmatch(name))


async def _names(admin: TopicAdmin, given: Given) -> list[str]:
    listed = await admin.list_topics(include_internal="exclude-internal" not in given)
    return matching(listed, given.text("topic"))


def _expect(found: list[str], given: Given) -> list[str]:
    if not found and "if-exists" not in given:
        name = given.text("topic")
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name}' does not exist as expected"
        )
    return found


_ACTIONS_OF: dict[str, Callable[[TopicAdmin, Given], Awaitable[None]]] = {
    "list": _list,
    "describe": _describe,
    "create": _create,
    "alter": _alter,
    "delete": _delete,
}
