"""What a batch of records does to a table."""

import pytest

from moldau.connect.connectors.sql.changes import ChangeReader, TableChanges
from moldau.connect.data.arrow import table_of_records
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import FLOAT64, INT64, STRING, Schema, array, optional, struct
from moldau.connect.errors import DataError

KEY = struct([("id", INT64)])
ROW = struct([("id", INT64), ("name", optional(STRING)), ("tags", optional(array(STRING)))])
DELETING = {"pk.mode": "record_key", "delete.enabled": "true"}


def changes(values: list[tuple[int, str | None]], **settings: str) -> TableChanges:
    records = [
        ConnectRecord(
            "t",
            Datum({"id": key}, KEY),
            NULL if name is None else Datum({"id": key, "name": name, "tags": [name]}, ROW),
            (),
            0,
            0,
            offset,
        )
        for offset, (key, name) in enumerate(values)
    ]
    return ChangeReader(settings).changes(table_of_records(records))


def test_the_last_of_a_key_counts_and_a_deletion_comes_first() -> None:
    found = changes(
        [(1, "a"), (2, "b"), (1, None), (1, "c"), (2, None)],
        **{**DELETING, "insert.mode": "upsert"},
    )
    assert found.gone.to_pylist() == [{"id": 1}, {"id": 2}]
    assert found.rows.to_pylist() == [{"id": 1, "name": "c", "tags": '["c"]'}]
    assert [each.name for each in found.fields] == ["id", "name", "tags"]


@pytest.mark.parametrize(
    ("kind", "keys", "names"),
    [
        (INT64, [3, 1, 2], ["0", "1", "2"]),
        (STRING, ["a", "b", "a"], ["2", "1"]),
        (FLOAT64, [0.0, 1.0, -0.0], ["2", "1"]),
    ],
)
def test_keys_are_compared_whatever_their_type(
    kind: Schema, keys: list[object], names: list[str]
) -> None:
    records = [
        ConnectRecord("t", Datum({"id": key}, struct([("id", kind)])), Datum(str(at), STRING))
        for at, key in enumerate(keys)
    ]
    records = [
        each.but(value=Datum({"name": each.value.value}, struct([("name", STRING)])))
        for each in records
    ]
    reader = ChangeReader({"insert.mode": "upsert", "pk.mode": "record_key"})
    found = reader.changes(table_of_records(records)).rows
    assert found.column("name").to_pylist() == names


def test_every_record_is_a_row_where_nothing_else_is_said() -> None:
    found = changes([(1, "a"), (1, "b")])
    assert [each["name"] for each in found.rows.to_pylist()] == ["a", "b"]
    assert not found.key
    placed = changes([(1, "a")], **{"pk.mode": "kafka", "pk.fields": "t,p,o"})
    assert placed.rows.to_pylist()[0]["t"] == "t"
    assert placed.key == ["t", "p", "o"]


def test_only_wanted_fields_are_columns_and_the_key_is_always_one() -> None:
    settings = {"pk.mode": "record_value", "pk.fields": "id", "fields.whitelist": "name"}
    found = changes([(1, "a")], **settings)
    assert found.rows.column_names == ["id", "name"]


def test_a_tombstone_needs_leave_to_delete() -> None:
    with pytest.raises(DataError, match=r"needs delete\.enabled"):
        changes([(1, None)])
    assert changes([(1, None)], **DELETING).rows.num_rows == 0
