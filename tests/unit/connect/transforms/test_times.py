"""TimestampConverter and TimestampRouter do what Java's do."""

import datetime as dt

import pytest

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.data.schema import INT64, STRING, TIMESTAMP_SCHEMA, optional, struct
from moldau.connect.errors import ConfigError, DataError
from unit.connect.transforms.chained import chain, changed

CONVERT = "TimestampConverter$Value"
MOMENT = dt.datetime(2024, 2, 29, 15, 4, 5, 678000, tzinfo=dt.UTC)
MS = 1709219045678


@pytest.mark.parametrize(
    ("value", "settings", "result"),
    [
        (MS, {"target_type": "Timestamp"}, MOMENT),
        (MOMENT, {"target_type": "unix"}, MS),
        (MOMENT, {"target_type": "unix", "unix_precision": "seconds"}, MS // 1000),
        (MS // 1000, {"target_type": "unix", "unix_precision": "seconds"}, MS // 1000),
        (MOMENT, {"target_type": "Date"}, MOMENT.date()),
        (MOMENT, {"target_type": "Time"}, MOMENT.time()),
        (MOMENT, {"target_type": "string", "format": "yyyy"}, "2024"),
        ("2024", {"target_type": "unix", "format": "yyyy"}, 1704067200000),
        (MOMENT.date(), {"target_type": "unix"}, 1709164800000),
        (dt.time(0, 0, 1), {"target_type": "unix"}, 1000),
    ],
)
def test_times_are_converted(value: object, settings: dict[str, str], result: object) -> None:
    assert changed(CONVERT, value, None, **settings) == Datum(result)


def test_a_field_changes_with_its_schema_and_null_stays() -> None:
    row = struct([("at", optional(INT64)), ("x", STRING)])
    found = changed(CONVERT, {"at": MS, "x": "y"}, row, field="at", target_type="Timestamp")
    wanted = struct([("at", optional(TIMESTAMP_SCHEMA)), ("x", STRING)])
    assert found == Datum({"at": MOMENT, "x": "y"}, wanted)
    assert changed(CONVERT, {"at": None}, field="at", target_type="Date") == Datum({"at": None})
    assert changed(CONVERT, None, field="at", target_type="Date") == Datum()


def test_settings_that_do_not_go_together_are_refused() -> None:
    for settings in (
        {"target_type": "string"},
        {"target_type": "Year"},
        {"target_type": "unix", "unix_precision": "days"},
    ):
        with pytest.raises(ConfigError):
            chain(CONVERT, **settings)
    with pytest.raises(DataError, match="known timestamp"):
        changed(CONVERT, True, target_type="unix")


def test_topics_are_named_after_times() -> None:
    record = ConnectRecord("t", timestamp_ms=MS)
    found = chain("TimestampRouter").apply(record)
    assert found is not None
    assert found.topic == "t-20240229"
    with pytest.raises(DataError, match="Timestamp missing"):
        chain("TimestampRouter").apply(ConnectRecord("t"))
