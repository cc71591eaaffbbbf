"""Read a topic in a group and print events in JSON (kafka-verifiable-consumer.sh)."""

import asyncio
from collections.abc import Iterable, Sequence

from moldau.cli.terminal.client_settings import READS_ONLY, read_file, usable
from moldau.cli.terminal.events import print_event
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, Given, Option, Options
from moldau.cli.terminal.stopping import Stopping
from moldau.client.consumer.consumer import Consumer
from moldau.client.record import ConsumerRecord
from moldau.client.settings import ConsumerSettings
from moldau.errors import KafkaError
from moldau.model import TopicPartition

OPTIONS = Options(
    "verifiable-consumer",
    "Reads a topic as a member of a group, and prints all that happens as JSON.",
    BOOTSTRAP_SERVER,
    Option("broker-list", "The older name of --bootstrap-server.", "SERVERS"),
    Option("topic", "The topic to read.", "TOPIC"),
    Option("group-id", "The group.", "GROUP"),
    Option("group-instance-id", "The name of a static member.", "ID"),
    Option("max-messages", "How many; -1 for no end.", "COUNT", kind=int),
    Option("session-timeout", "When a silent member is given up.", "MILLISECONDS", kind=int),
    Option("verbose", "Print each record."),
    Option("enable-autocommit", "Let the client commit automatically."),
    Option("reset-policy", "earliest, latest or none.", "POLICY"),
    Option("assignment-strategy", "The Java class that shares partitions out.", "CLASS"),
    Option("consumer.config", "A file with settings.", "FILE"),
    Option("group-protocol", "classic or consumer.", "PROTOCOL"),
    Option("group-remote-assignor", "Who shares out with that.", "NAME"),
    takes_abbreviations=True,
)
_WAIT_S = 60.0


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("topic", "group-id")
    if "bootstrap-server" not in given:
        given.require("broker-list")
    try:
        return asyncio.run(_consume(given))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # asked twice


def settings(given: Given) -> dict[str, object]:
    """The consumer's settings, of the file and of the options."""
    texts = {**READS_ONLY, **read_file(given.text("consumer.config"))}
    texts |= {
        "bootstrap.servers": given.text("bootstrap-server") or given.text("broker-list"),
        "group.id": given.text("group-id"),
        "enable.auto.commit": str("enable-autocommit" in given).lower(),
        "auto.offset.reset": given.text("reset-policy", "earliest"),
        "session.timeout.ms": str(given.number("session-timeout", 30_000)),
    }
    for option, name in {
        "group-instance-id": "group.instance.id",
        "assignment-strategy": "partition.assignment.strategy",
        "group-protocol": "group.protocol",
        "group-remote-assignor": "group.remote.assignor",
    }.items():
        if option in given:
            texts[name] = given.text(option)
    return usable(ConsumerSettings, texts)


async def _consume(given: Given) -> int:
    stopping = Stopping()
    async with Consumer[bytes, bytes](settings(given)) as consumer:
        print_event("startup_complete")
        consumer.subscribe(
            [given.text("topic")],
            on_assigned=lambda found: print_event("partitions_assigned", partitions=_listed(found)),
            on_revoked=lambda lost: print_event("partitions_revoked", partitions=_listed(lost)),
        )
        await stopping.run(_read(consumer, given))
    print_event("shutdown_complete")
    return stopping.code


async def _read(consumer: Consumer[bytes, bytes], given: Given) -> None:
    count, seen = given.number("max-messages", -1), 0
    while seen != count:
        most = None if count < 0 else count - seen
        records = await consumer.poll(_WAIT_S, max_records=most)
        if not records:
            continue
        seen += len(records)
        print_event("records_consumed", count=len(records), partitions=summary(records))
        if "verbose" in given:
            for record in records:
                print_event("record_data", **_as_data(record))
        if "enable-autocommit" not in given:
            await _commit(consumer, records)


async def _commit(
    consumer: Consumer[bytes, bytes], records: Iterable[ConsumerRecord[bytes, bytes]]
) -> None:
    offsets = {record.topic_partition: record.offset + 1 for record in records}
    listed = [{"topic": t, "partition": p, "offset": o} for (t, p), o in offsets.items()]
    try:
        await consumer.commit(offsets)
    except KafkaError as error:
        print_event("offsets_committed", offsets=listed, success=False, error=str(error))
    else:
        print_event("offsets_committed", offsets=listed, success=True)


def summary(records: Iterable[ConsumerRecord[bytes, bytes]]) -> list[dict[str, object]]:
    """How much came from each partition."""
    offsets: dict[TopicPartition, list[int]] = {}
    for record in records:
        offsets.setdefault(record.topic_partition, []).append(record.offset)
    return [
        {
            "topic": topic,
            "partition": partition,
            "count": len(found),
            "minOffset": found[0],
            "maxOffset": found[-1],
        }
        for (topic, partition), found in offsets.items()
    ]


def _listed(partitions: Iterable[TopicPartition]) -> list[dict[str, object]]:
    return [{"topic": each.topic, "partition": each.partition} for each in partitions]


def _as_data(record: ConsumerRecord[bytes, bytes]) -> dict[str, object]:
    key, value = (
        None if each is None else each.decode(errors="replace")
        for each in (record.key, record.value)
    )
    return {
        "key": key,
        "value": value,
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
    }
