"""What a client of a cluster sees, and what is wrong with it: the findings of `moldau doctor`."""

import asyncio
import time
from collections.abc import Awaitable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Union

from moldau.client.admin import cluster_checks
from moldau.client.admin.configs import ConfigEntry, ConfigResource, ConfigsArea
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import BrokerDescription, DescriptionArea
from moldau.client.admin.finding import Finding
from moldau.client.admin.group_offsets import GroupOffsetsArea
from moldau.client.admin.groups import GroupsArea
from moldau.client.admin.log_dirs import LogDirsArea
from moldau.client.admin.offsets import MAX_TIMESTAMP, OffsetsArea
from moldau.client.admin.topics import TopicDescription, TopicsArea
from moldau.client.connection.addresses import parse_addresses
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.errors import AuthorizationFailed, UnsupportedVersion
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

_REACH_S = 3.0
_CLOCK_MS_MAX = 1_000
_GROUPS_MAX = 100
_TIMESTAMP_TYPE = "message.timestamp.type"
_LOCAL = ("localhost", "127.0.0.1", "::1")


class ExaminingAdmin(
    TopicsArea,
    ConfigsArea,
    OffsetsArea,
    DescriptionArea,
    GroupsArea,
    GroupOffsetsArea,
    LogDirsArea,
    Connected,
):
    """What an examination needs of an admin client."""


Examined = Union[ExaminingAdmin, "Admin"]


async def examine(admin: Examined, asked: str) -> list[Finding]:
    """All findings for a client that was given these addresses."""
    cluster = await admin.describe_cluster()
    brokers = sorted(cluster.brokers, key=lambda each: each.node_id)
    findings = [Finding(True, f"{asked} answers; the cluster is {cluster.cluster_id}")]
    reached = await asyncio.gather(*(is_reachable(each.host, each.port) for each in brokers))
    hosts = [address.host for address in parse_addresses(asked)]
    findings += [
        advertised(broker, hosts, is_reached=is_reached)
        for broker, is_reached in zip(brokers, reached, strict=True)
    ]
    findings.append(controller(cluster.controller_id, brokers))
    names = await admin.list_topics(include_internal=True)
    described = (await admin.describe_topics(names)).succeeded if names else {}
    findings.append(clock(await _newest_stamp_ms(admin, described.values()), _now_ms()))
    findings += partitions(described.values())
    findings += cluster_checks.versions((await admin.describe_api_versions()).succeeded)
    findings += await _allowed("disks", _storage(admin))
    return findings + await _allowed("groups", _lag(admin))


async def _allowed(what: str, findings: Awaitable[list[Finding]]) -> list[Finding]:
    """Findings, or why this user does not get them: a client may have few rights."""
    try:
        return await findings
    except (AuthorizationFailed, UnsupportedVersion) as error:
        return [Finding(True, f"{what}: not examined, {error}")]


async def _storage(admin: Examined) -> list[Finding]:
    found = await admin.describe_log_dirs()
    return [
        each
        for node_id, directories in sorted(found.items())
        for each in cluster_checks.storage(node_id, directories)
    ]


async def _lag(admin: Examined) -> list[Finding]:
    """How far groups are behind; of very many only the first are looked at."""
    names = [each.group_id for each in await admin.list_groups()]
    described = (await admin.describe_groups(names[:_GROUPS_MAX])).succeeded
    offsets = (await admin.list_group_offsets(list(described))).succeeded
    places = {place for committed in offsets.values() for place in committed}
    first, end = [
        {
            place: found.offset
            for place, found in (
                await admin.list_offsets(dict.fromkeys(places, time))
            ).succeeded.items()
        }
        for time in (EARLIEST, LATEST)
    ]
    findings = [
        cluster_checks.lag(cluster_checks.GroupProgress(group, offsets[name], first, end))
        for name, group in described.items()
        if offsets.get(name)
    ]
    if len(names) > _GROUPS_MAX:
        findings.append(Finding(True, f"{len(names) - _GROUPS_MAX} more groups, not examined"))
    return findings


async def _newest_stamp_ms(admin: Examined, topics: Collection[TopicDescription]) -> int | None:
    """The latest time that brokers, not producers, have given to a record.

    No response has the time of a broker, and nothing is to be written just to see it.
    """
    resources = {ConfigResource.topic(each.name): [_TIMESTAMP_TYPE] for each in topics}
    configs = (await admin.describe_configs(resources)).succeeded if resources else {}
    wanted = {
        TopicPartition(topic.name, each.partition): MAX_TIMESTAMP
        for topic in topics
        for each in topic.partitions
        if each.leader >= 0
        and (topic.is_internal or _is_stamped(configs.get(ConfigResource.topic(topic.name))))
    }
    found = (await admin.list_offsets(wanted)).succeeded if wanted else {}
    return max((each.timestamp for each in found.values() if each.offset >= 0), default=None)


def _is_stamped(settings: Mapping[str, ConfigEntry] | None) -> bool:
    kind = (settings or {}).get(_TIMESTAMP_TYPE)
    return kind is not None and kind.value == "LogAppendTime"


def clock(newest_stamp_ms: int | None, now_ms: int) -> Finding:
    """Whether brokers have stamped records with times that are still to come here."""
    if newest_stamp_ms is None:
        return Finding(
            True, "the brokers' clock cannot be compared: no record has a broker's timestamp yet"
        )
    ahead_ms = newest_stamp_ms - now_ms
    if ahead_ms <= _CLOCK_MS_MAX:
        age_s = max(-ahead_ms, 0) / 1000
        text = f"a broker stamped a record {age_s:.1f} s ago by the clock here, none in the future"
        return Finding(True, text)
    return Finding(
        False,
        f"the brokers' clock is at least {ahead_ms / 1000:.1f} s ahead of the clock here",
        "Times of records and retention will be wrong. On both machines: timedatectl set-ntp true",
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def is_reachable(host: str, port: int) -> bool:
    """Whether a server listens there, seen from here."""
    try:
        async with asyncio.timeout(_REACH_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def advertised(broker: BrokerDescription, asked: Iterable[str], *, is_reached: bool) -> Finding:
    """Where clients are sent for a broker, which may not be where they came from."""
    text = f"broker {broker.node_id} is advertised as {broker.host}:{broker.port}"
    if not is_reached:
        return Finding(
            False,
            f"{text}, which cannot be reached from here",
            "Clients are sent there: set advertised.listeners to what they can reach.",
        )
    is_remote = any(host not in _LOCAL for host in asked)
    if broker.host in _LOCAL and is_remote:
        return Finding(
            False,
            f"{text}, which is another machine for each client",
            "Set advertised.listeners to a name that other machines know.",
        )
    return Finding(True, f"{text}, which can be reached")


def controller(controller_id: int, brokers: Iterable[BrokerDescription]) -> Finding:
    """Whether a broker elects leaders."""
    if any(each.node_id == controller_id for each in brokers):
        return Finding(True, f"broker {controller_id} is the controller")
    return Finding(
        False,
        "there is no controller",
        "No topic can be created, no leader elected. The brokers' logs say why; with ZooKeeper: "
        "zookeeper-shell.sh ZOOKEEPER get /controller",
    )


def partitions(topics: Iterable[TopicDescription]) -> list[Finding]:
    """Partitions without a leader, or whose replicas are behind."""
    every = [(topic.name, each) for topic in topics for each in topic.partitions]
    offline = [f"{name}-{each.partition}" for name, each in every if each.leader < 0]
    behind = [
        f"{name}-{each.partition}" for name, each in every if len(each.isr) < len(each.replicas)
    ]
    findings = [Finding(True, f"{len(every)} partitions")]
    if offline:
        text = f"{len(offline)} partitions have no leader: {cluster_checks.some(offline)}"
        advice = (
            "They can be neither read nor written. Start the brokers that have them: "
            "kafka-topics.sh --describe --unavailable-partitions lists them."
        )
        findings.append(Finding(False, text, advice))
    if behind:
        text = f"{len(behind)} partitions are under-replicated: {cluster_checks.some(behind)}"
        advice = "kafka-topics.sh --describe --under-replicated-partitions lists them."
        findings.append(Finding(False, text, advice))
    return findings
