"""Topics into tables, with the settings of the JDBC sink connector.

Each batch is one transaction of the database, and how far it goes in each partition is part of
it, in the table `moldau_connect_offsets`: what comes again after a failure is left out, so that
inserts, too, are there once.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting
from moldau.connect.config.values import flag
from moldau.connect.connector import Sink
from moldau.connect.connectors.sql import changes, link
from moldau.connect.connectors.sql.database import quoted, quoted_table
from moldau.connect.connectors.sql.link import DatabaseLink
from moldau.connect.data.schema import Field
from moldau.connect.errors import ConfigError

_LEDGER = "moldau_connect_offsets"
_KNOWN = f"SELECT topic, partition, next_offset FROM {_LEDGER} WHERE connector = ?"  # noqa: S608
_ADVANCE = (
    f"INSERT INTO {_LEDGER} VALUES (?, ?, ?, ?) "  # noqa: S608 - our own name
    "ON CONFLICT (connector, topic, partition) DO UPDATE SET next_offset = excluded.next_offset"
)


class JdbcSink(Sink):
    """Inserts, upserts, updates and deletes."""

    settings = (
        *link.SETTINGS,
        *changes.SETTINGS,
        PluginSetting("auto.create", "BOOLEAN", "false"),
        PluginSetting("auto.evolve", "BOOLEAN", "false"),
        PluginSetting("table.name.format", default="${topic}"),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._reader = changes.ChangeReader(config)
        self._link = DatabaseLink(config)
        self._name = config.get("name", "")
        self._has_ledger = False

    def write(self, table: pa.Table, batch_id: int) -> None:
        """One transaction."""
        del batch_id
        with self._link.database.transaction():
            new = self._unwritten(table)
            if new.num_rows:
                found = self._reader.changes(new)
                topic = new.column("topic")[0].as_py()
                name = self.config.get("table.name.format", "${topic}").replace("${topic}", topic)
                self._fit(name, found.fields, found.key)
                self._link.database.apply(name, found)

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    # What was written before

    def _unwritten(self, records: pa.Table) -> pa.Table:
        database = self._link.database
        if not self._has_ledger:
            database.query(
                f"CREATE TABLE IF NOT EXISTS {_LEDGER} (connector text, topic text, "
                "partition integer, next_offset bigint, PRIMARY KEY (connector, topic, partition))"
            )
            self._has_ledger = True
        places = [records.column(each).to_pylist() for each in ("topic", "partition", "offset")]
        # A task that was taken for dead may be writing still: what it commits must be seen.
        written = set(zip(places[0], places[1], strict=True))
        database.lock(f"{self._name}/{topic}-{partition}" for topic, partition in written)
        known = {
            (topic, partition): int(str(number))
            for topic, partition, number in database.query(_KNOWN, [self._name])
        }
        is_new, changed = [], dict[tuple[object, object], int]()
        for topic, partition, offset in zip(*places, strict=True):
            assert isinstance(offset, int), "records of topics have one"
            place = (topic, partition)
            is_new.append(offset >= changed.get(place, known.get(place, 0)))
            if is_new[-1]:
                changed[place] = offset + 1
        database.run(_ADVANCE, [(self._name, *place, end) for place, end in changed.items()])
        return records.filter(pa.array(is_new, pa.bool_()))

    # Tables

    def _fit(self, table: str, fields: Sequence[Field], key: Sequence[str]) -> None:
        """Make a table that is not there, and columns that are missing, if that is wanted."""
        database = self._link.database
        known = {each.name for each in database.columns(table)}
        if not known:
            if not flag(self.config, "auto.create", default=False):
                raise ConfigError(f"table {table} is missing, and auto.create is off")
            columns = [self._declared(each) for each in fields]
            if key:
                columns.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
            database.query(f"CREATE TABLE {quoted_table(table)} ({', '.join(columns)})")
            return
        missing = [each for each in fields if each.name not in known]
        if missing and not flag(self.config, "auto.evolve", default=False):
            listing = ", ".join(each.name for each in missing)
            raise ConfigError(f"table {table} has no {listing}, and auto.evolve is off")
        for each in missing:
            declared = self._declared(Field(each.name, each.schema.but(optional=True)))
            database.query(f"ALTER TABLE {quoted_table(table)} ADD COLUMN {declared}")

    def _declared(self, field: Field) -> str:
        kind = self._link.database.type_of(field.schema)
        return f"{quoted(field.name)} {kind}{'' if field.schema.optional else ' NOT NULL'}"
