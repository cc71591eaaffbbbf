"""Topics into tables, with the settings of the JDBC sink connector.

Each batch is one transaction of the database, and how far it goes in each partition is part of
it, in the table `moldau_connect_offsets`: what comes again after a failure is left out, so that
inserts, too, are there once.
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from moldau.connect.config.definition import PluginSetting
from moldau.connect.config.values import flag
from moldau.connect.connector import Sink
from moldau.connect.connectors.sql import changes, link
from moldau.connect.connectors.sql.changes import TableChanges
from moldau.connect.connectors.sql.database import quoted, quoted_table
from moldau.connect.connectors.sql.link import DatabaseLink
from moldau.connect.data.schema import Field
from moldau.connect.errors import ConfigError

_LEDGER = "moldau_connect_offsets"
_KNOWN = f'SELECT topic, "partition", next_offset FROM {_LEDGER} WHERE connector = ?'  # noqa: S608
_PLACE = ("connector", "topic", "partition")


_Place = tuple[object, object]
"""A topic, and the number of a partition."""


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
        database = self._link.database
        if not database.has_transactional_ddl:
            # What makes or changes tables would commit a part of the transaction.
            self._make_ledger()
            self._fit(self._target(table), self._reader.changes(table))
        with database.transaction():
            new = self._unwritten(table)
            if new.num_rows:
                found = self._reader.changes(new)
                name = self._target(new)
                self._fit(name, found)
                database.apply(name, found)

    def _target(self, records: pa.Table) -> str:
        topic = records.column("topic")[0].as_py()
        return self.config.get("table.name.format", "${topic}").replace("${topic}", topic)

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    # What was written before

    def _unwritten(self, records: pa.Table) -> pa.Table:
        database = self._link.database
        self._make_ledger()
        offsets = records.column("offset").to_pylist()
        places = _places(records)
        # A task that was taken for dead may be writing still: what it commits must be seen.
        written = set(places)
        database.lock(f"{self._name}/{topic}-{partition}" for topic, partition in written)
        known = {
            (topic, partition): int(str(number))
            for topic, partition, number in database.query(_KNOWN, [self._name])
        }
        is_new, changed = [], dict[_Place, int]()
        for place, offset in zip(places, offsets, strict=True):
            is_new.append(offset >= changed.get(place, known.get(place, 0)))
            if is_new[-1]:
                changed[place] = offset + 1
        names = (*_PLACE, "next_offset")
        advance = database.upsert_text(_LEDGER, names, _PLACE, "VALUES (?, ?, ?, ?)")
        database.run(advance, [(self._name, *place, end) for place, end in changed.items()])
        return records if all(is_new) else records.filter(pa.array(is_new, pa.bool_()))

    def _make_ledger(self) -> None:
        if self._has_ledger:
            return
        # MariaDB's keys are not larger, and names of topics are not longer.
        self._link.database.query(
            f"CREATE TABLE IF NOT EXISTS {_LEDGER} (connector varchar(400), topic varchar(249), "
            '"partition" integer, next_offset bigint, '
            'PRIMARY KEY (connector, topic, "partition"))'
        )
        self._has_ledger = True

    # Tables

    def _fit(self, table: str, changes: TableChanges) -> None:
        """Make a table that is not there, and columns that are missing, if that is wanted."""
        database, fields, key = self._link.database, changes.fields, changes.key
        known = {each.name for each in database.columns(table)}
        if not known:
            if not flag(self.config, "auto.create", default=False):
                raise ConfigError(f"table {table} is missing, and auto.create is off")
            columns = [self._declared(each, is_key=each.name in key) for each in fields]
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

    def _declared(self, field: Field, *, is_key: bool = False) -> str:
        kind = self._link.database.type_of(field.schema, is_key=is_key)
        return f"{quoted(field.name)} {kind}{'' if field.schema.optional else ' NOT NULL'}"


def _places(records: pa.Table) -> list[_Place]:
    """Of each record; those of one partition share theirs."""
    topics, partitions = records.column("topic"), records.column("partition").to_pylist()
    if pc.count_distinct(topics).as_py() != 1:
        return list(zip(topics.to_pylist(), partitions, strict=True))
    topic = topics[0].as_py()
    found = {each: (topic, each) for each in set(partitions)}
    return [found[each] for each in partitions]
