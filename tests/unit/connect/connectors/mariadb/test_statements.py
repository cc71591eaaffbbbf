"""Statements that empty tables."""

import pytest

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.mariadb.statements import truncated_table


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("TRUNCATE t", TableName("d", "t")),
        ("truncate table `t``x`", TableName("d", "t`x")),
        ("/* why */ TRUNCATE TABLE inv.t", TableName("inv", "t")),
        ("TRUNCATE `a.b` . `c` WAIT 5", TableName("a.b", "c")),
        ("ALTER TABLE t TRUNCATE PARTITION p0", None),
        ("CREATE TABLE truncate_t (i int)", None),
        ("DROP TABLE t", None),
    ],
)
def test_the_table_is_named(statement: str, table: TableName | None) -> None:
    assert truncated_table(statement, "d") == table
