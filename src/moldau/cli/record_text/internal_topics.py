"""The formatters of `__consumer_offsets` and `__transaction_state`, old and new."""

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from moldau.cli.record_text.stored_messages import (
    StoredMessage,
    read_group_key,
    read_group_value,
    read_offset_key,
    read_offset_value,
    read_transaction_key,
    read_transaction_value,
)
from moldau.coordinator.transaction.state import TransactionState
from moldau.protocol.messages.offsets_topic import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from moldau.protocol.messages.transaction_topic import TransactionLogKey, TransactionLogValue

if TYPE_CHECKING:
    from moldau.cli.record_text.formatters import Formatter, Record

ReadKey = Callable[[bytes], StoredMessage | None]
ReadValue = Callable[[bytes], StoredMessage]
Show = Callable[[StoredMessage, StoredMessage | None], str]


def find_internal_formatter(name: str) -> "Formatter | None":
    """The formatter of this name, without the package of those in Java."""
    return _FORMATTERS.get(name)


class StoredFormatter:
    """A line for each record of one kind; others are passed over."""

    def __init__(self, read_key: ReadKey, read_value: ReadValue, show: Show) -> None:
        self._read_key = read_key
        self._read_value = read_value
        self._show = show

    def write(self, records: "Iterable[Record]") -> bytes:
        lines: list[str] = []
        for record in records:
            key = None if record.key is None else self._read_key(record.key)
            if key is None:
                continue
            value = None if record.value is None else self._read_value(record.value)
            lines.append(self._show(key, value) + "\n")
        return "".join(lines).encode()


def show_json(key: StoredMessage, value: StoredMessage | None) -> str:
    """Both with their versions, as the newer formatters print them."""
    data = {
        "key": {"version": key.version, "data": key.as_data()},
        "value": None if value is None else {"version": value.version, "data": value.as_data()},
    }
    return json.dumps(data, separators=(",", ":"))


def show_offset(key: StoredMessage, value: StoredMessage | None) -> str:
    """A committed offset, as formatters before 3.9 print it."""
    where = key.message
    assert isinstance(where, OffsetCommitKey)
    head = f"[{where.group},{where.topic},{where.partition}]::"
    if value is None:
        return f"{head}null"
    found = value.message
    assert isinstance(found, OffsetCommitValue)
    epoch = f"[{found.leader_epoch}]" if found.leader_epoch >= 0 else ".empty"
    expiry = f"Some({found.expire_timestamp})" if found.expire_timestamp >= 0 else "None"
    return (
        f"{head}OffsetAndMetadata(offset={found.offset}, leaderEpoch=Optional{epoch}, "
        f"metadata={found.metadata}, commitTimestamp={found.commit_timestamp}, "
        f"expireTimestamp={expiry})"
    )


def show_group(key: StoredMessage, value: StoredMessage | None) -> str:
    """A group's generation, as formatters before 3.9 print it."""
    group = key.message
    assert isinstance(group, GroupMetadataKey)
    if value is None:
        return f"{group.group}::null"
    found = value.message
    assert isinstance(found, GroupMetadataValue)
    state = "Stable" if found.members else "Empty"
    kind = f"Some({found.protocol_type})" if found.protocol_type else "None"
    members = ", ".join(_member(each, found.protocol) for each in found.members)
    return (
        f"{group.group}::GroupMetadata(groupId={group.group}, generation={found.generation}, "
        f"protocolType={kind}, currentState={state}, members=HashMap({members}))"
    )


def show_transaction(key: StoredMessage, value: StoredMessage | None) -> str:
    """A transaction, as formatters before 3.9 print it."""
    name = key.message
    assert isinstance(name, TransactionLogKey)
    if value is None:
        return f"{name.transactional_id}::null"
    found = value.message
    assert isinstance(found, TransactionLogValue)
    partitions = ", ".join(
        f"{topic.topic}-{index}"
        for topic in found.transaction_partitions or ()
        for index in topic.partition_ids
    )
    state = TransactionState(found.transaction_status).label
    return (
        f"{name.transactional_id}::TransactionMetadata("
        f"transactionalId={name.transactional_id}, producerId={found.producer_id}, "
        f"producerEpoch={found.producer_epoch}, txnTimeoutMs={found.transaction_timeout_ms}, "
        f"state={state}, pendingState=None, topicPartitions=HashSet({partitions}), "
        f"txnStartTimestamp={found.transaction_start_timestamp_ms}, "
        f"txnLastUpdateTimestamp={found.transaction_last_update_timestamp_ms})"
    )


def _member(member: MemberMetadata, protocol: str | None) -> str:
    instance = f"Some({member.group_instance_id})" if member.group_instance_id else "None"
    return (
        f"{member.member_id} -> MemberMetadata(memberId={member.member_id}, "
        f"groupInstanceId={instance}, clientId={member.client_id}, "
        f"clientHost={member.client_host}, sessionTimeoutMs={member.session_timeout}, "
        f"rebalanceTimeoutMs={member.rebalance_timeout}, supportedProtocols=List({protocol or ''}))"
    )


_OLD_GROUPS = "kafka.coordinator.group.GroupMetadataManager$"
_OLD_TRANSACTIONS = "kafka.coordinator.transaction.TransactionLog$"

_FORMATTERS: "dict[str, Formatter]" = {
    "OffsetsMessageFormatter": StoredFormatter(read_offset_key, read_offset_value, show_json),
    "GroupMetadataMessageFormatter": StoredFormatter(read_group_key, read_group_value, show_json),
    "TransactionLogMessageFormatter": StoredFormatter(
        read_transaction_key, read_transaction_value, show_json
    ),
    f"{_OLD_GROUPS}OffsetsMessageFormatter": StoredFormatter(
        read_offset_key, read_offset_value, show_offset
    ),
    f"{_OLD_GROUPS}GroupMetadataMessageFormatter": StoredFormatter(
        read_group_key, read_group_value, show_group
    ),
    f"{_OLD_TRANSACTIONS}TransactionLogMessageFormatter": StoredFormatter(
        read_transaction_key, read_transaction_value, show_transaction
    ),
}
