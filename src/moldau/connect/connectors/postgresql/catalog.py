"""What the database's catalogue says of tables, columns, keys and types.

It says how things are now, which may be later than the place in the log that is being read:
names and types come from the log, and only the rest from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.column_types import PgType
from moldau.connect.connectors.postgresql.pgoutput import RelationMessage
from moldau.connect.connectors.postgresql.server import Connection, DatabaseServer
from moldau.connect.connectors.postgresql.table_schema import CapturedColumn
from moldau.connect.errors import ConnectError

_TABLES = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relpersistence <> 't' AND CASE WHEN %s
  THEN c.relkind IN ('r', 'p') AND NOT c.relispartition ELSE c.relkind = 'r' END
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT a.attname, a.atttypid::bigint, a.atttypmod, a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid)
FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attgenerated = ''
ORDER BY a.attnum
"""
# The primary key; without one the replica identity, or else a unique index without nulls.
_KEY = """
SELECT ARRAY(
  SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE k.place <= i.indnkeyatts ORDER BY k.place)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indimmediate AND i.indisvalid
  AND i.indpred IS NULL AND i.indexprs IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM pg_attribute a WHERE a.attrelid = i.indrelid AND NOT a.attnotnull
    AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
ORDER BY i.indisprimary DESC, i.indisreplident DESC, c.relname LIMIT 1
"""
_TYPE = """
SELECT t.typname, t.typtype::text, t.typbasetype::bigint, t.typtypmod,
       CASE WHEN t.typcategory = 'A' AND t.typlen = -1 AND t.typtype = 'b'
         THEN t.typelem::bigint ELSE 0 END,
       ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid
             ORDER BY e.enumsortorder)
FROM pg_type t WHERE t.oid = %s
"""
_DEPTH_MAX = 16


def quoted_table(name: TableName) -> str:
    """As SQL writes it."""
    return f"{quoted_name(name.schema)}.{quoted_name(name.name)}"


def quoted_name(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"{}"'.format(name.replace('"', '""'))


@dataclass(slots=True)
class Catalog:
    """Asks one connection; types are remembered."""

    server: DatabaseServer
    connection: Connection
    _types: dict[int, PgType] = field(default_factory=dict)

    def tables(self, *, via_root: bool) -> list[TableName]:
        """All tables; partitioned ones as a whole, or their partitions."""
        found = self.server.rows(self.connection, _TABLES, [via_root])
        return [TableName(str(schema), str(name)) for schema, name in found]

    def columns(self, table: TableName) -> list[CapturedColumn]:
        """As they are now, in the table's order, without generated ones."""
        found = self.server.rows(self.connection, _COLUMNS, [quoted_table(table)])
        return [
            CapturedColumn(
                str(name),
                self.type_of(int(str(oid))),
                int(str(typmod)),
                not not_null,
                None if default is None else str(default),
            )
            for name, oid, typmod, not_null, default in found
        ]

    def logged_columns(self, relation: RelationMessage) -> list[CapturedColumn]:
        """Those that the log has, with what only the catalogue knows of them."""
        known = {
            each.name: each for each in self.columns(TableName(relation.schema, relation.name))
        }
        found = []
        for each in relation.columns:
            now = known.get(each.name)
            found.append(
                CapturedColumn(
                    each.name,
                    self.type_of(each.type_oid),
                    each.typmod,
                    now is None or now.is_nullable,
                    None if now is None else now.default,
                )
            )
        return found

    def key(self, table: TableName) -> Sequence[str]:
        """Columns of the key, in its order."""
        found = self.server.rows(self.connection, _KEY, [quoted_table(table)])
        if not found:
            return ()
        (names,) = found[0]
        assert isinstance(names, list), "an array"
        return [str(each) for each in names]

    def type_of(self, oid: int, depth: int = 0) -> PgType:
        """A type with those that it is made of."""
        known = self._types.get(oid)
        if known is not None and not _may_grow(known):
            return known
        rows = self.server.rows(self.connection, _TYPE, [oid])
        if not rows or depth > _DEPTH_MAX:
            if known is not None:
                return known
            return PgType(f"oid {oid}")
        name, kind, base, typmod, element, labels = rows[0]
        assert isinstance(labels, list), "an array"
        element_oid, base_oid = int(str(element)), int(str(base))
        found = self._types[oid] = PgType(
            str(name),
            str(kind),
            self.type_of(element_oid, depth + 1) if element_oid else None,
            tuple(str(each) for each in labels),
            self.type_of(base_oid, depth + 1) if base_oid else None,
            int(str(typmod)),
        )
        return found


def _may_grow(kind: PgType) -> bool:
    """Whether it is an enum, which gets labels, or is made of one."""
    parts = (kind.element, kind.base)
    return kind.kind == "e" or any(each is not None and _may_grow(each) for each in parts)


def one_value(rows: list[tuple[object, ...]]) -> object:
    """Of a query that gives one row of one value."""
    if not rows:
        raise ConnectError("PostgreSQL gave no row where one was due")
    return rows[0][0]
