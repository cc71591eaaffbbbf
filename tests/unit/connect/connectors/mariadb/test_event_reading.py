"""Events of mysql-replication; that a server's own are read is shown by test_stream.py."""

from types import SimpleNamespace

import pytest
from pymysqlreplication import event as its
from pymysqlreplication import row_event as rows

from moldau.connect.connectors.mariadb.event_reading import EventReading, json_text
from moldau.connect.connectors.mariadb.events import (
    FileBegun,
    GroupBegun,
    GroupEnded,
    Idle,
    LogEvent,
    Statement,
)
from moldau.connect.errors import ConfigError

PACKET = SimpleNamespace(log_pos=200, event_size=50, server_id=7)


def made(kind: type, **attributes: object) -> object:
    """An event of the library, without the bytes that it would read."""
    found: object = object.__new__(kind)
    for name, value in {"packet": PACKET, "timestamp": 9, **attributes}.items():
        found.__dict__[name] = value
    return found


def query(text: str) -> object:
    return made(its.QueryEvent, query=text, schema=b"d")


def read(*events: object) -> list[LogEvent]:
    reading = EventReading()
    return [found for each in events for found in reading.read(each)]


def test_mariadbs_transactions_begin_with_an_id_and_end_with_a_commit() -> None:
    gtid = made(its.MariadbGtidEvent, gtid="0-7-1", flags=0)
    for end in (made(its.XidEvent), query("COMMIT"), query("ROLLBACK"), made(its.XAPrepareEvent)):
        assert read(gtid, end) == [GroupBegun("0-7-1", 150, 9, 7), GroupEnded(200)]


def test_mariadb_says_which_statements_stand_alone() -> None:
    alone = made(its.MariadbGtidEvent, gtid="0-7-1", flags=41)
    assert read(alone, query("DROP TABLE t"))[1] == Statement("d", "DROP TABLE t", 200, False)
    within = made(its.MariadbGtidEvent, gtid="0-7-1", flags=0)
    assert read(within, query("CREATE TABLE t (i int)"))[1:] == [
        Statement("d", "CREATE TABLE t (i int)", 200, True)
    ]


def test_mysql_says_it_by_begin() -> None:
    gtid = made(its.GtidEvent, sid=bytes(16), gno=5)
    uuid = "00000000-0000-0000-0000-000000000000"
    begun = GroupBegun(f"{uuid}:5", 150, 9, 7)
    assert read(gtid, query("BEGIN"), made(its.XidEvent)) == [begun, GroupEnded(200)]
    assert read(gtid, query("ALTER TABLE t")) == [
        *(begun, Statement("d", "ALTER TABLE t", 200, False))
    ]
    anonymous = made(its.NotImplementedEvent, event_type=34)
    assert read(anonymous, query("XA START 'x'"), query("XA END 'x'"))[1:] == [
        Statement("d", "XA END 'x'", 200, True)
    ]
    assert read(anonymous, query("XA COMMIT 'x'"))[1:] == [GroupEnded(200)]


def test_files_and_heartbeats() -> None:
    rotated = made(its.RotateEvent, next_binlog="f.2", position=4)
    assert read(rotated, made(its.HeartbeatLogEvent)) == [FileBegun("f.2", 4), Idle()]
    assert read(made(its.NotImplementedEvent, event_type=161)) == []


@pytest.mark.parametrize(
    ("event", "setting"),
    [
        (made(its.NotImplementedEvent, event_type=166), "log_bin_compress"),
        (made(its.NotImplementedEvent, event_type=40), "binlog_transaction_compression"),
        (made(rows.PartialUpdateRowsEvent), "binlog_row_value_options"),
    ],
)
def test_what_is_not_read_fails_and_says_what_to_set(event: object, setting: str) -> None:
    with pytest.raises(ConfigError, match=f"^{setting}"):
        read(event)


def test_mysqls_json_is_text() -> None:
    # {"a": 1, "b": [true, null]}: a small object, whose places are counted from its number of keys.
    inner = "0200 0c00 04 0100 04 0000 0000"
    data = bytes.fromhex("00 0200 2000 1200 0100 1300 0100 05 0100 02 1400 61 62" + inner)
    assert json_text(data) == '{"a":1,"b":[true,null]}'
    assert json_text(b"\x0c\x05gr\xc3\xbcn") == '"grün"'
    assert json_text(b"") == "null"
