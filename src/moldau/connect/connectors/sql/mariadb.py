"""MariaDB and MySQL through PyMySQL."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions, convert_timedelta

from moldau.connect.connectors.sql.changes import UPDATE, UPSERT, TableChanges
from moldau.connect.connectors.sql.database import (
    Column,
    Row,
    quoted,
    quoted_table,
    without_password,
)
from moldau.connect.connectors.sql.statements import (
    columns_text,
    insert_text,
    same_key,
    with_format_marks,
    without_zone,
)
from moldau.connect.data.logical import EPOCH
from moldau.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Kind, Schema
from moldau.connect.errors import ConnectError, DataError, RetriableConnectError

_TYPES = {
    Kind.INT8: "tinyint",
    Kind.INT16: "smallint",
    Kind.INT32: "int",
    Kind.INT64: "bigint",
    Kind.FLOAT32: "float",
    Kind.FLOAT64: "double",
    Kind.BOOLEAN: "boolean",
    Kind.STRING: "longtext",
    Kind.BYTES: "longblob",
}
_KEY_TYPES = {Kind.STRING: "varchar(255)", Kind.BYTES: "varbinary(255)"}
_LOGICAL = {DATE: "date", TIME: "time(3)", TIMESTAMP: "datetime(3)"}
_DIGITS = 65
# The words that rows are read by, see types.py.
_WORDS = {
    "tinyint": "smallint",
    "mediumint": "integer",
    "int": "integer",
    "year": "integer",
    "float": "real",
    "datetime": "timestamp without time zone",
    "timestamp": "timestamp without time zone",
    "time": "time without time zone",
    **dict.fromkeys(("binary", "varbinary", "bit", "geometry", "point"), "bytea"),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), "bytea"),
}
_UNSIGNED = {"int": "bigint", "smallint": "integer", "bigint": "numeric"}
_COLUMNS = """
SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE LIKE '%unsigned%', IS_NULLABLE = 'YES',
  COLUMN_KEY = 'PRI'
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?
ORDER BY ORDINAL_POSITION
"""
# Names are quoted as in other databases, and times are in UTC.
_SESSION = (
    "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES', time_zone = '+00:00', "
    "tx_isolation = 'READ-COMMITTED', lock_wait_timeout = 60, innodb_lock_wait_timeout = 60"
)
_MYSQL_SESSION = _SESSION.replace("tx_isolation", "transaction_isolation")
_LOCK_S = 60
_POLLED = "moldau_polled"
_DAY_S = 86_400


class MariaDb:
    """One connection to a server; `mysql:` and `mariadb:` are the same."""

    has_transactional_ddl = False

    def __init__(self, url: str) -> None:
        self.name = without_password(url)
        self._stages = 0
        parts = urlsplit(url)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        place: dict[str, object] = {"host": parts.hostname or "localhost"}
        if "unix_socket" in options:
            place = {"unix_socket": options["unix_socket"]}
        try:
            self._connection = pymysql.connect(
                **place,
                port=parts.port or 3306,
                user=unquote(parts.username or options.get("user", "")),
                password=unquote(parts.password or options.get("password", "")),
                database=parts.path.strip("/") or None,
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=10,
                conv={**conversions, FIELD_TYPE.TIME: _clock},
            )
            is_mariadb = "MariaDB" in self._connection.get_server_info()
            with self._connection.cursor() as cursor:
                cursor.execute(_SESSION if is_mariadb else _MYSQL_SESSION)
        except (pymysql.Error, OSError) as error:
            raise self._translated(error) from error

    def query(self, statement: str, parameters: Row = ()) -> list[Row]:
        """All rows."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(
                    with_format_marks(statement), [without_zone(each) for each in parameters]
                )
                return list(cursor.fetchall())
        except (pymysql.Error, OSError) as error:
            raise self._translated(error) from error

    def run(self, statement: str, rows: Iterable[Row]) -> None:
        """A statement for each row; rows of an insert are sent together."""
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(with_format_marks(statement), list(rows))
        except (pymysql.Error, OSError) as error:
            raise self._translated(error) from error

    def upsert_text(self, table: str, names: Sequence[str], key: Sequence[str], source: str) -> str:
        """Put in what a source gives, or change rows of the same key."""
        sets = ", ".join(
            f"{quoted(each)} = VALUES({quoted(each)})" for each in names if each not in key
        )
        same = f"{quoted(key[0])} = VALUES({quoted(key[0])})"
        insert = insert_text(table, names, key, source, "insert")
        return f"{insert} ON DUPLICATE KEY UPDATE {sets or same}"

    def apply(self, table: str, changes: TableChanges) -> None:
        """By inserts of many rows; through a temporary table unless all rows are new."""
        key, rows = changes.key, changes.rows
        target, names = quoted_table(table), rows.column_names
        if changes.gone.num_rows:
            with self._stage(table, changes.gone) as stage:
                joined = f"{target} AS t JOIN {stage} AS s ON {same_key(key)}"
                self.query(f"DELETE t FROM {joined}")
        if not rows.num_rows:
            return
        if changes.mode == UPSERT:
            with self._stage(table, rows) as stage:
                source = f"SELECT {columns_text(names)} FROM {stage}"  # noqa: S608
                self.query(self.upsert_text(table, names, key, source))
        elif changes.mode == UPDATE:
            with self._stage(table, rows) as stage:
                sets = ", ".join(f"t.{quoted(e)} = s.{quoted(e)}" for e in names if e not in key)
                joined = f"{target} AS t JOIN {stage} AS s ON {same_key(key)}"
                self.query(f"UPDATE {joined} SET {sets}")  # noqa: S608
        else:
            self._insert(table, rows)

    @contextmanager
    def _stage(self, table: str, rows: pa.Table) -> Iterator[str]:
        """Rows in a temporary table, whose columns have the types of the target's."""
        self._stages += 1
        stage = f"moldau_stage_{self._stages}"
        self.query(
            f"CREATE TEMPORARY TABLE {quoted(stage)} AS "  # noqa: S608
            f"SELECT {columns_text(rows.column_names)} FROM {quoted_table(table)} LIMIT 0"
        )
        try:
            self._insert(stage, rows)
            yield quoted(stage)
        finally:
            # Where the connection is gone, so is the table.
            if self._connection.open:
                self.query(f"DROP TEMPORARY TABLE IF EXISTS {quoted(stage)}")

    def _insert(self, table: str, rows: pa.Table) -> None:
        names = rows.column_names
        columns = [[without_zone(each) for each in column.to_pylist()] for column in rows.columns]
        marks = f"VALUES ({', '.join('?' for _ in names)})"
        self.run(insert_text(table, names, (), marks, "insert"), zip(*columns, strict=True))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, but for statements that make or change tables: these commit."""
        self.query("START TRANSACTION")
        try:
            yield
        except BaseException:
            if self._connection.open:
                self.query("ROLLBACK")
                self.query("DO RELEASE_ALL_LOCKS()")
            raise
        self.query("COMMIT")
        self.query("DO RELEASE_ALL_LOCKS()")

    def lock(self, names: Iterable[str]) -> None:
        """Always in the same order, so that two transactions never wait for each other."""
        for name in sorted(names):
            digest = hashlib.sha256(name.encode()).hexdigest()[:60]
            ((is_held,),) = self.query("SELECT GET_LOCK(?, ?)", [digest, _LOCK_S])
            if is_held != 1:
                raise RetriableConnectError(f"{self.name}: {name} is locked for {_LOCK_S} s")

    def tables(self) -> list[str]:
        """Of the database that the address names."""
        found = self.query(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "
            "AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1"
        )
        return [str(row[0]) for row in found]

    def columns(self, table: str) -> list[Column]:
        """As the catalogue has them."""
        schema, _, name = table.rpartition(".")
        found = self.query(_COLUMNS, [schema or None, name])
        return [
            Column(str(column), _word(str(kind), bool(unsigned)), bool(nullable), bool(key))
            for column, kind, unsigned, nullable, key in found
        ]

    def query_columns(self, query: str) -> list[Column]:
        """As the server describes those of a temporary table that a query could fill."""
        made = quoted(_POLLED)
        polled = f"SELECT * FROM ({query}\n) AS polled LIMIT 0"  # noqa: S608 - the user's own
        self.query(f"CREATE TEMPORARY TABLE {made} AS {polled}")
        try:
            found = self.query(f"SHOW COLUMNS FROM {made}")
        finally:
            self.query(f"DROP TEMPORARY TABLE {made}")
        return [
            Column(str(name), _word(*_kind(str(kind))), is_nullable=True, is_key=False)
            for name, kind, *_ in found
        ]

    def type_of(self, schema: Schema, *, is_key: bool = False) -> str:
        """MariaDB's own; a key has a limited length."""
        if schema.name == DECIMAL:
            return f"decimal({_DIGITS},{schema.scale})"
        if schema.name in _LOGICAL:
            return _LOGICAL[schema.name]
        if is_key and schema.kind in _KEY_TYPES:
            return _KEY_TYPES[schema.kind]
        return _TYPES.get(schema.kind, "longtext")

    def close(self) -> None:
        """Hang up."""
        if self._connection.open:
            self._connection.close()

    def _translated(self, error: Exception) -> ConnectError:
        # A password is never part of what the server says.
        reason = error.args[1] if len(error.args) > 1 else error
        if isinstance(error, pymysql.DataError | pymysql.IntegrityError):
            return DataError(f"{self.name}: {reason}")
        return RetriableConnectError(f"{self.name}: {reason}")


def _word(kind: str, is_unsigned: bool) -> str:
    if is_unsigned and kind in _UNSIGNED:
        return _UNSIGNED[kind]
    return _WORDS.get(kind, kind)


def _kind(declared: str) -> tuple[str, bool]:
    """`bigint(20) unsigned` is a bigint, and has no sign."""
    return declared.partition("(")[0].partition(" ")[0].lower(), "unsigned" in declared


def _clock(text: str) -> object:
    """A time of day; spans that are none stay texts."""
    span = convert_timedelta(text)
    if isinstance(span, dt.timedelta) and 0 <= span.total_seconds() < _DAY_S:
        return (EPOCH + span).time()
    return text
