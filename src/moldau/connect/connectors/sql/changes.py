"""What records of a topic do to a table: rows that are to be there, and rows that go."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import flag, listed
from moldau.connect.data.arrow import schema_of
from moldau.connect.data.schema import Field, Kind, Schema
from moldau.connect.errors import ConfigError, DataError

INSERT, UPSERT, UPDATE = "insert", "upsert", "update"
SETTINGS = (
    PluginSetting("insert.mode", default=INSERT, check=one_of(INSERT, UPSERT, UPDATE)),
    PluginSetting(
        "pk.mode", default="none", check=one_of("none", "kafka", "record_key", "record_value")
    ),
    PluginSetting("pk.fields", "LIST", ""),
    PluginSetting("delete.enabled", "BOOLEAN", "false"),
    PluginSetting("fields.whitelist", "LIST", ""),
)
_PLACES = {
    "__connect_topic": ("topic", Schema(Kind.STRING)),
    "__connect_partition": ("partition", Schema(Kind.INT32)),
    "__connect_offset": ("offset", Schema(Kind.INT64)),
}


@dataclass(frozen=True, slots=True)
class TableChanges:
    """What a batch does; rows that go, go first."""

    mode: str
    key: Sequence[str]
    """Names of the columns that identify rows; none if every record is a row of its own."""
    fields: Sequence[Field]
    rows: pa.Table
    gone: pa.Table
    """The key columns alone."""


class ChangeReader:
    """Reads records by the settings of the sink."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._mode = config.get("insert.mode", INSERT)
        self._key_mode = config.get("pk.mode", "none")
        self._deletes = flag(config, "delete.enabled", default=False)
        self._key_names = listed(config, "pk.fields")
        self._wanted = listed(config, "fields.whitelist")
        if self._mode != INSERT and self._key_mode == "none":
            raise ConfigError(f"insert.mode={self._mode} needs a primary key: set pk.mode")
        if self._deletes and self._key_mode != "record_key":
            raise ConfigError("delete.enabled needs pk.mode=record_key")

    def changes(self, records: pa.Table) -> TableChanges:
        """The last record of a key counts, unless each is a row of its own."""
        key, value = schema_of(records.field("key")), schema_of(records.field("value"))
        key_columns = self._key_columns(records, key, value)
        names = [field.name for field, _ in key_columns]
        columns = [*key_columns, *self._value_columns(records, value, names)]
        keys = pa.table({field.name: found for field, found in key_columns})
        if any(found.null_count for _, found in key_columns):
            raise DataError(f"the primary key {', '.join(names)} of a record is null")
        is_gone = pc.is_null(records.column("value"))
        if pc.any(is_gone).as_py() and not self._deletes:
            raise DataError("a record without a value needs delete.enabled=true")
        rows = pa.table({field.name: found for field, found in columns})
        if self._mode != INSERT or self._deletes:
            chosen = _last_of_each(keys)
            kept = pc.invert(is_gone)
            if chosen is not None:
                rows, kept = rows.take(chosen), kept.take(chosen)
            rows = rows.filter(kept)
        return TableChanges(
            self._mode,
            names,
            [field for field, _ in columns],
            _with_json(rows),
            keys.filter(is_gone) if names else keys,
        )

    def _key_columns(
        self, records: pa.Table, key: Schema, value: Schema
    ) -> list[tuple[Field, pa.ChunkedArray]]:
        wanted = self._key_names
        if self._key_mode == "kafka":
            pairs = zip(wanted or _PLACES, _PLACES.values(), strict=True)
            return [(Field(name, kind), records.column(place)) for name, (place, kind) in pairs]
        if self._key_mode == "none":
            return []
        side = "key" if self._key_mode == "record_key" else "value"
        holder, column = (key if side == "key" else value), records.column(side)
        if holder.kind is not Kind.STRUCT:
            if len(wanted) != 1:
                raise ConfigError("pk.fields: a key without fields needs one name")
            return [(Field(wanted[0], holder.but(optional=False)), column)]
        found = [each for each in holder.fields if not wanted or each.name in wanted]
        missing = set(wanted) - {each.name for each in found}
        if missing:
            raise ConfigError(f"pk.fields: {', '.join(sorted(missing))} is not in the record")
        return [
            (Field(each.name, each.schema.but(optional=False)), pc.struct_field(column, each.name))
            for each in found
        ]

    def _value_columns(
        self, records: pa.Table, value: Schema, keys: Sequence[str]
    ) -> list[tuple[Field, pa.ChunkedArray]]:
        column = records.column("value")
        if value.kind is not Kind.STRUCT:
            if column.null_count < len(column):
                topic = records.column("topic")[0].as_py()
                raise DataError(
                    f"{topic}: a table needs values with fields, not {value.kind.value}"
                )
            return []
        return [
            (each, pc.struct_field(column, each.name))
            for each in value.fields
            if each.name not in keys and (not self._wanted or each.name in self._wanted)
        ]


def _last_of_each(keys: pa.Table) -> pa.Array | None:
    """The numbers of rows; None if each key is seen to be there once."""
    kinds = [column.type for column in keys.columns]
    # Arrow counts sooner than Python; other types it may compare otherwise.
    is_plain = len(kinds) == 1 and (pa.types.is_integer(kinds[0]) or pa.types.is_string(kinds[0]))
    if is_plain and pc.count_distinct(keys.column(0)).as_py() == keys.num_rows:
        return None
    listed = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    return pa.array({key: at for at, key in enumerate(listed)}.values(), pa.int64())


def _with_json(rows: pa.Table) -> pa.Table:
    """Lists, maps and structs are JSON in a column."""
    for at, field in enumerate(rows.schema):
        if pa.types.is_nested(field.type):
            values = rows.column(at).to_pylist(maps_as_pydicts="strict")
            texts = [None if each is None else json.dumps(each, default=str) for each in values]
            rows = rows.set_column(at, field.name, pa.array(texts, pa.string()))
    return rows
