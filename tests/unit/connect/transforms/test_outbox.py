"""Rows of an outbox become events of the topics that they name."""

import pytest

from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import INT32, INT64, STRING, optional, struct
from moldau.connect.errors import ConfigError, DataError
from unit.connect.transforms.chained import chain

ROUTER = "io.debezium.transforms.outbox.EventRouter"
MICRO = INT64.but(name="io.debezium.time.MicroTimestamp")
ROW = struct(
    [
        ("id", STRING),
        ("aggregatetype", STRING),
        ("aggregateid", STRING),
        ("type", STRING),
        ("payload", optional(STRING)),
        ("at", MICRO),
        ("version", INT32),
        ("shard", INT32),
    ],
    name="db.outbox.Value",
)
CHANGE = struct(
    [("after", optional(ROW)), ("source", struct([])), ("op", STRING), ("ts_ms", INT64)],
    name="db.outbox.Envelope",
)
VALUE = {
    "id": "e1",
    "aggregatetype": "order",
    "aggregateid": "7",
    "type": "OrderCreated",
    "payload": '{"total": 5}',
    "at": 1_500_000,
    "version": 3,
    "shard": 2,
}


def routed(
    operation: str = "c",
    *,
    plain: bool = False,
    payload: object = VALUE["payload"],
    **settings: str,
) -> ConnectRecord | None:
    after = None if operation == "d" else {**VALUE, "payload": payload}
    value = {"after": after, "source": {}, "op": operation, "ts_ms": 9}
    datum = Datum(value, None if plain else CHANGE)
    return chain(ROUTER, **settings).apply(ConnectRecord("db.outbox", value=datum))


@pytest.mark.parametrize("plain", [False, True])
def test_a_row_becomes_an_event_of_the_topic_that_it_names(plain: bool) -> None:
    found = routed(plain=plain)
    assert found is not None
    assert found.topic == "outbox.event.order"
    assert found.key.value == "7"
    assert found.value.value == '{"total": 5}'
    assert found.timestamp_ms == 9
    assert [(name, datum.value) for name, datum in found.headers] == [("id", "e1")]


def test_columns_are_headers_parts_of_the_value_or_the_partition() -> None:
    found = routed(
        table_fields_additional_placement="type:header:eventType,type:envelope,shard:partition",
        table_field_event_key="id",
        table_field_event_timestamp="at",
        table_field_event_schema_version="version",
        table_expand_json_payload="true",
        route_topic_replacement="events.${routedByValue}",
    )
    assert found is not None
    assert (found.topic, found.partition, found.timestamp_ms) == ("events.order", 2, 1500)
    assert found.key.value == "e1"
    assert found.value.value == {"payload": {"total": 5}, "type": "OrderCreated"}
    assert found.value.schema is not None
    assert (found.value.schema.name, found.value.schema.version) == ("db.outbox.order.Value", 3)
    assert found.headers[1] == ("eventType", Datum("OrderCreated", STRING))


def test_what_is_no_new_row_goes_and_what_is_no_change_passes() -> None:
    assert routed("d") is None
    assert routed("u") is None
    with pytest.raises(ConfigError, match="Unexpected update message"):
        routed("u", table_op_invalid_behavior="fatal")
    assert chain(ROUTER).apply(ConnectRecord("t")) is None
    other = ConnectRecord("t", value=Datum({"a": 1}))
    assert chain(ROUTER).apply(other) == other


def test_an_empty_payload_is_a_tombstone_if_that_is_wanted() -> None:
    kept = routed(payload=" ")
    buried = routed(payload=None, route_tombstone_on_empty_payload="true")
    assert kept is not None
    assert kept.value.value == " "
    assert buried is not None
    assert buried.value == NULL


def test_payloads_that_are_no_json_stay_texts() -> None:
    for text in ("{no json", "plain"):
        found = routed(payload=text, table_expand_json_payload="true")
        assert found is not None
        assert found.value.value == text


def test_columns_that_are_not_there_and_settings_without_meaning_are_named() -> None:
    for plain in (False, True):
        with pytest.raises(DataError, match="Unable to find field nope"):
            routed(plain=plain, route_by_field="nope")
    with pytest.raises(DataError, match="for event timestamp"):
        routed(table_field_event_timestamp="version")
    for settings in (
        {"table_fields_additional_placement": "type:nowhere"},
        {"table_op_invalid_behavior": "ignore"},
    ):
        with pytest.raises(ConfigError):
            chain(ROUTER, **settings)
