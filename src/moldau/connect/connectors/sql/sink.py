"""Topics into tables, with the settings of the JDBC sink connector.

Each batch is one transaction of the database, and how far it goes in each partition is part of
it, in the table `moldau_connect_offsets`: what comes again after a failure is left out, so that
inserts, too, are there once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import flag, listed, required
from moldau.connect.connector import Sink
from moldau.connect.connectors.sql.database import Database, quoted
from moldau.connect.connectors.sql.opening import connect
from moldau.connect.data.arrow import schema_of
from moldau.connect.data.schema import Field, Kind, Schema
from moldau.connect.errors import ConfigError, DataError

_LEDGER = "moldau_connect_offsets"
_KNOWN = f"SELECT topic, partition, next_offset FROM {_LEDGER} WHERE connector = ?"  # noqa: S608
_ADVANCE = (
    f"INSERT INTO {_LEDGER} VALUES (?, ?, ?, ?) "  # noqa: S608 - our own name
    "ON CONFLICT (connector, topic, partition) DO UPDATE SET next_offset = excluded.next_offset"
)
_INSERT, _UPSERT, _UPDATE = "insert", "upsert", "update"
_PLACES = ("__connect_topic", "__connect_partition", "__connect_offset")


@dataclass(frozen=True, slots=True)
class _Change:
    key: tuple[object, ...]
    row: Mapping[str, object] | None
    """None: the row goes."""


class JdbcSink(Sink):
    """Inserts, upserts, updates and deletes."""

    settings = (
        PluginSetting("connection.url", required=True, importance="HIGH"),
        PluginSetting("connection.user"),
        PluginSetting("connection.password", "PASSWORD"),
        PluginSetting("insert.mode", default=_INSERT, check=one_of(_INSERT, _UPSERT, _UPDATE)),
        PluginSetting(
            "pk.mode", default="none", check=one_of("none", "kafka", "record_key", "record_value")
        ),
        PluginSetting("pk.fields", "LIST", ""),
        PluginSetting("delete.enabled", "BOOLEAN", "false"),
        PluginSetting("auto.create", "BOOLEAN", "false"),
        PluginSetting("auto.evolve", "BOOLEAN", "false"),
        PluginSetting("table.name.format", default="${topic}"),
        PluginSetting("fields.whitelist", "LIST", ""),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._mode = config.get("insert.mode", _INSERT)
        self._key_mode = config.get("pk.mode", "none")
        self._deletes = flag(config, "delete.enabled", default=False)
        if self._mode != _INSERT and self._key_mode == "none":
            raise ConfigError(f"insert.mode={self._mode} needs a primary key: set pk.mode")
        if self._deletes and self._key_mode != "record_key":
            raise ConfigError("delete.enabled needs pk.mode=record_key")
        self._name = config.get("name", "")
        self._wanted = listed(config, "fields.whitelist")
        self._has_ledger = False
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        """Connected when it is first needed."""
        if self._database is None:
            config = self.config
            self._database = connect(
                required(config, "connection.url"),
                config.get("connection.user"),
                config.get("connection.password"),
            )
        return self._database

    def write(self, table: pa.Table, batch_id: int) -> None:
        """One transaction."""
        del batch_id
        rows = table.to_pylist(maps_as_pydicts="strict")
        key, value = schema_of(table.field("key")), schema_of(table.field("value"))
        with self.database.transaction():
            new = self._unwritten(rows)
            if new:
                self._store(str(new[0]["topic"]), key, value, new)

    def close(self) -> None:
        """Hang up."""
        if self._database is not None:
            self._database.close()
            self._database = None

    # What was written before

    def _unwritten(self, rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
        database = self.database
        if not self._has_ledger:
            database.query(
                f"CREATE TABLE IF NOT EXISTS {_LEDGER} (connector text, topic text, "
                "partition integer, next_offset bigint, PRIMARY KEY (connector, topic, partition))"
            )
            self._has_ledger = True
        known = {
            (topic, partition): number
            for topic, partition, number in database.query(
                _KNOWN,
                [self._name],
            )
        }
        new = []
        for row in rows:
            place = (row["topic"], row["partition"])
            offset = row["offset"]
            assert isinstance(offset, int), "records of topics have one"
            if offset >= int(str(known.get(place, 0))):
                new.append(row)
                known[place] = offset + 1
        changed = {(row["topic"], row["partition"]) for row in new}
        database.run(
            _ADVANCE,
            [(self._name, *place, known[place]) for place in changed],
        )
        return new

    # Rows

    def _store(
        self, topic: str, key: Schema, value: Schema, rows: Sequence[dict[str, object]]
    ) -> None:
        table = self.config.get("table.name.format", "${topic}").replace("${topic}", topic)
        key_fields = self._key_fields(key, value)
        fields = {each.name: each for each in key_fields}
        if value.kind is Kind.STRUCT:
            shown = [each for each in value.fields if not self._wanted or each.name in self._wanted]
            fields |= {each.name: each for each in shown if each.name not in fields}
        elif any(row["value"] is not None for row in rows):
            raise DataError(f"{topic}: a table needs values with fields, not {value.kind.value}")
        self._fit(table, list(fields.values()), [each.name for each in key_fields])
        names = [each.name for each in key_fields]
        changes = self._changes([self._change(row, names, list(fields)) for row in rows])
        gone = [each.key for each in changes if each.row is None]
        kept = [[_stored(each.row[name]) for name in fields] for each in changes if each.row]
        if gone:
            condition = " AND ".join(f"{quoted(name)} = ?" for name in names)
            self.database.run(f"DELETE FROM {quoted(table)} WHERE {condition}", gone)  # noqa: S608
        if kept:
            self.database.run(*self._statement(table, list(fields), names, kept))

    def _changes(self, changes: Sequence[_Change]) -> list[_Change]:
        """The last of each key, unless every record is a row of its own."""
        if self._mode == _INSERT and not self._deletes:
            return [each for each in changes if each.row is not None]
        return list({each.key: each for each in changes}.values())

    def _change(
        self, row: Mapping[str, object], names: Sequence[str], fields: Sequence[str]
    ) -> _Change:
        value, key = row["value"], row["key"]
        found: dict[str, object] = {}
        if self._key_mode == "kafka":
            places = (row["topic"], row["partition"], row["offset"])
            found = dict(zip(names, places, strict=True))
        elif self._key_mode == "record_key":
            found = dict(key) if isinstance(key, dict) else {names[0]: key}
        if isinstance(value, dict):
            found = {**value, **found}
        chosen = tuple(found.get(name) for name in names)
        if self._key_mode != "none" and None in chosen:
            raise DataError(f"the primary key {', '.join(names)} of a record is null")
        if value is None:
            if not self._deletes:
                raise DataError("a record without a value needs delete.enabled=true")
            return _Change(chosen, None)
        return _Change(chosen, {name: found.get(name) for name in fields})

    def _key_fields(self, key: Schema, value: Schema) -> list[Field]:
        wanted = listed(self.config, "pk.fields")
        if self._key_mode == "kafka":
            kinds = (Schema(Kind.STRING), Schema(Kind.INT32), Schema(Kind.INT64))
            return [Field(*each) for each in zip(wanted or _PLACES, kinds, strict=True)]
        if self._key_mode == "none":
            return []
        holder = key if self._key_mode == "record_key" else value
        if holder.kind is not Kind.STRUCT:
            if len(wanted) != 1:
                raise ConfigError("pk.fields: a key without fields needs one name")
            return [Field(wanted[0], holder.but(optional=False))]
        found = [each for each in holder.fields if not wanted or each.name in wanted]
        missing = set(wanted) - {each.name for each in found}
        if missing:
            raise ConfigError(f"pk.fields: {', '.join(sorted(missing))} is not in the record")
        return [Field(each.name, each.schema.but(optional=False)) for each in found]

    def _statement(
        self, table: str, fields: Sequence[str], names: Sequence[str], rows: list[list[object]]
    ) -> tuple[str, list[list[object]]]:
        rest = [each for each in fields if each not in names]
        if self._mode == _UPDATE:
            values = ", ".join(f"{quoted(each)} = ?" for each in rest)
            condition = " AND ".join(f"{quoted(each)} = ?" for each in names)
            order = [fields.index(each) for each in (*rest, *names)]
            statement = f"UPDATE {quoted(table)} SET {values} WHERE {condition}"  # noqa: S608
            return statement, [[row[at] for at in order] for row in rows]
        marks = ", ".join("?" for _ in fields)
        listing = ", ".join(map(quoted, fields))
        statement = f"INSERT INTO {quoted(table)} ({listing}) VALUES ({marks})"  # noqa: S608
        if self._mode == _UPSERT:
            sets = ", ".join(f"{quoted(each)} = excluded.{quoted(each)}" for each in rest)
            change = f"DO UPDATE SET {sets}" if rest else "DO NOTHING"
            statement += f" ON CONFLICT ({', '.join(map(quoted, names))}) {change}"
        return statement, rows

    # Tables

    def _fit(self, table: str, fields: Sequence[Field], names: Sequence[str]) -> None:
        """Make a table that is not there, and columns that are missing, if that is wanted."""
        database = self.database
        known = {each.name for each in database.columns(table)}
        if not known:
            if not flag(self.config, "auto.create", default=False):
                raise ConfigError(f"table {table} is missing, and auto.create is off")
            columns = [self._declared(each) for each in fields]
            if names:
                columns.append(f"PRIMARY KEY ({', '.join(map(quoted, names))})")
            database.query(f"CREATE TABLE {quoted(table)} ({', '.join(columns)})")
            return
        missing = [each for each in fields if each.name not in known]
        if missing and not flag(self.config, "auto.evolve", default=False):
            listing = ", ".join(each.name for each in missing)
            raise ConfigError(f"table {table} has no {listing}, and auto.evolve is off")
        for each in missing:
            declared = self._declared(Field(each.name, each.schema.but(optional=True)))
            database.query(f"ALTER TABLE {quoted(table)} ADD COLUMN {declared}")

    def _declared(self, field: Field) -> str:
        kind = self.database.type_of(field.schema)
        return f"{quoted(field.name)} {kind}{'' if field.schema.optional else ' NOT NULL'}"


def _stored(value: object) -> object:
    """Lists, maps and structs are JSON in a column."""
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value
