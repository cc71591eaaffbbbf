"""Events are values: two table maps that say the same are the same."""

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.events import TableMapped
from moldau.connect.connectors.mariadb.row_images import LONG, LogColumn


def test_a_table_that_did_not_change_is_recognized() -> None:
    def mapped(name: str) -> TableMapped:
        return TableMapped(1, TableName("d", "t"), [LogColumn(name, LONG)], has_names=True)

    assert mapped("a") == mapped("a")
    assert mapped("a") != mapped("b")
