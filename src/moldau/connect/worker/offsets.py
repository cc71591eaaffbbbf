"""Offsets of connectors, as they are asked for and set over REST (KIP-875)."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from moldau.client.admin.admin import Admin
from moldau.connect.config.validation import SINK
from moldau.connect.connector import READER, Source
from moldau.connect.errors import ConnectError
from moldau.connect.storage.cluster_state import STOPPED
from moldau.connect.storage.records import compact, offset_key
from moldau.connect.worker.operations import Operations
from moldau.errors import GroupIdNotFound
from moldau.model import TopicPartition
from moldau.web.errors import WebError

_BAD, _NOT_FOUND = 400, 404
_TOPIC, _PARTITION, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"

Wanted = list[tuple[dict[str, object], dict[str, object] | None]]


@dataclass(slots=True)
class ConnectorOffsets:
    """Of sources from the offsets topic, of sinks from their groups."""

    operations: Operations

    async def get(self, name: str) -> dict[str, object]:
        """How far a connector is."""
        config = self.operations.resolved(self.operations.config(name))
        if self.operations.plugin(config).kind != SINK:
            listed = self.operations.herder.state.offsets_of(name)
            return _shown([each for each in listed if READER not in each[0]])
        async with self._admin(config) as admin:
            group = _group(name, config)
            found = (await admin.list_group_offsets(group))[group]
        ordered = sorted(found.items())
        return _shown(
            [
                ({_PARTITION: place.partition, _TOPIC: place.topic}, {_OFFSET: known.offset})
                for place, known in ordered
            ]
        )

    async def alter(self, name: str, body: Mapping[str, object]) -> dict[str, object]:
        """Set how far a connector that is stopped is."""
        wanted = _wanted(body)
        config = await self._stopped(name)
        plugin = self.operations.plugin(config)
        if plugin.kind == SINK:
            await self._alter_group(name, config, wanted)
        else:
            connector = plugin.connector
            assert issubclass(connector, Source), "it is no sink"
            try:
                await asyncio.to_thread(_check, connector, config, wanted)
            except ConnectError as error:
                hide = self.operations.herder.settings.providers.hide
                raise WebError(_BAD, hide(str(error))) from error
            await self._store(name, wanted)
        return {"message": "The offsets for this connector have been altered successfully"}

    async def reset(self, name: str) -> dict[str, object]:
        """Have a connector that is stopped begin from the start."""
        config = await self._stopped(name)
        if self.operations.plugin(config).kind == SINK:
            async with self._admin(config) as admin:
                group = _group(name, config)
                with suppress(GroupIdNotFound):
                    (await admin.delete_groups([group])).check()
        else:
            listed = self.operations.herder.state.offsets_of(name)
            await self._store(name, [(partition, None) for partition, _ in listed])
        return {"message": "The offsets for this connector have been reset successfully"}

    async def _stopped(self, name: str) -> Mapping[str, str]:
        config = self.operations.config(name)
        herder = self.operations.herder
        if herder.state.targets.get(name) != STOPPED:
            raise WebError(
                _BAD,
                "Connectors must be in the STOPPED state before their offsets can be modified. "
                "This can be done for the specified connector by issuing a 'PUT' request to the "
                f"'/connectors/{name}/stop' endpoint",
            )
        await herder.settled(name)
        return self.operations.resolved(config)

    async def _store(self, name: str, wanted: Wanted) -> None:
        herder = self.operations.herder
        records = {
            offset_key(name, partition): None if offset is None else compact(offset)
            for partition, offset in wanted
        }
        if records:
            await herder.writer.write_offsets(records)
        for key, value in records.items():
            herder.state.apply_offset(key, value)

    async def _alter_group(self, name: str, config: Mapping[str, str], wanted: Wanted) -> None:
        places = [(_place(partition), _position(offset)) for partition, offset in wanted]
        group = _group(name, config)
        async with self._admin(config) as admin:
            offsets = {place: offset for place, offset in places if offset is not None}
            if offsets:
                (await admin.alter_group_offsets(group, offsets)).check()
            forgotten = [place for place, offset in places if offset is None]
            if forgotten:
                (await admin.delete_group_offsets(group, forgotten)).check()

    def _admin(self, config: Mapping[str, str]) -> Admin:
        return Admin(self.operations.herder.settings.client("admin.", config))


def _check(connector: type[Source], config: Mapping[str, str], wanted: Wanted) -> None:
    source = connector(config)
    try:
        for partition, offset in wanted:
            source.check_offset(partition, offset)
    finally:
        source.close()


def _wanted(body: Mapping[str, object]) -> Wanted:
    listed = body.get("offsets")
    if not isinstance(listed, list) or not listed:
        raise WebError(
            _BAD, "Partitions / offsets need to be provided for an alter offsets request"
        )
    found: Wanted = []
    for each in listed:
        partition = each.get("partition") if isinstance(each, dict) else None
        offset = each.get("offset") if isinstance(each, dict) else None
        if not isinstance(partition, dict) or not (offset is None or isinstance(offset, dict)):
            raise WebError(_BAD, f"a partition and an offset are objects: {json.dumps(each)[:200]}")
        found.append((partition, offset))
    return found


def _place(partition: Mapping[str, object]) -> TopicPartition:
    topic, number = partition.get(_TOPIC), partition.get(_PARTITION)
    if topic is None or number is None:
        raise WebError(
            _BAD,
            "The partition for a sink connector offset must contain the keys "
            "'kafka_topic' and 'kafka_partition'",
        )
    try:
        return TopicPartition(str(topic), int(str(number)))
    except ValueError as error:
        raise WebError(
            _BAD,
            f"Failed to parse the following Kafka partition value in the provided offsets: "
            f"'{number}'. Partition values for sink connectors need to be integers.",
        ) from error


def _position(offset: Mapping[str, object] | None) -> int | None:
    if offset is None:
        return None
    if _OFFSET not in offset:
        raise WebError(
            _BAD,
            "The offset for a sink connector should either be null or contain the key "
            "'kafka_offset'",
        )
    try:
        return int(str(offset[_OFFSET]))
    except ValueError as error:
        raise WebError(
            _BAD,
            f"Failed to parse the following Kafka offset value in the provided offsets: "
            f"'{offset[_OFFSET]}'. Offset values for sink connectors need to be integers.",
        ) from error


def _group(name: str, config: Mapping[str, str]) -> str:
    return config.get("consumer.override.group.id", f"connect-{name}")


def _shown(listed: list[tuple[dict[str, object], dict[str, object]]]) -> dict[str, object]:
    return {"offsets": [{"partition": each, "offset": offset} for each, offset in listed]}
