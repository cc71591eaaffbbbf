"""Places in the log as records tell them."""

from moldau.connect.connectors.capture.places import RecordNames
from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.places import LogPlace

NAMES = RecordNames("p", "db")


def test_a_place_before_the_first_commit_says_so() -> None:
    found = LogPlace(50, None, 7, 1_500_000).source(NAMES, TableName("s", "t"), "false")
    assert (found["sequence"], found["lsn"], found["ts_ms"]) == ('[null,"50"]', 50, 1500)
    assert (found["db"], found["schema"], found["table"]) == ("db", "s", "t")
    assert LogPlace(50, 40, 7, 0).source(NAMES, None, "true")["sequence"] == '["40","50"]'


def test_a_transaction_is_called_by_its_number_and_place() -> None:
    assert LogPlace(50, None, 7, 0).transaction == "7:50"
