"""Places in the log as records tell them."""

from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.places import BinlogPlace

NAMES = RecordNames("p", "")


def test_a_place_names_file_and_transaction() -> None:
    found = BinlogPlace("f", 5, 7, "0-7-1", 1_500_000, 2).source(
        NAMES, TableName("d", "t"), "false"
    )
    assert [found[name] for name in ("db", "table", "file", "pos", "row", "gtid")] == [
        *("d", "t", "f", 5, 2, "0-7-1")
    ]
    assert (found["ts_ms"], found["connector"], found["server_id"]) == (1500, "mariadb", 7)


def test_a_transaction_without_an_id_is_called_by_its_place() -> None:
    assert BinlogPlace("f", 5, 7, "0-7-1", 0).transaction == "0-7-1"
    assert BinlogPlace("f", 5, 7, None, 0).transaction == "file=f,pos=5"
