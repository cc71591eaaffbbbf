"""Connections to the server that settings name, with texts of values as they are read here."""

import ssl
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pymysql
from pymysql import connections
from pymysql.converters import encoders
from pymysql.cursors import SSCursor

from moldau.connect.config.values import number, required
from moldau.connect.errors import ConnectError, RetriableConnectError

SSL_MODES = (
    *("disable", "trust", "verify-ca", "verify-full"),
    *("disabled", "preferred", "required", "verify_ca", "verify_identity"),
)
"""Of Debezium's connector for MariaDB, and of that for MySQL."""
_CONNECT_TIMEOUT_S = 10
_READ_TIMEOUT_S = 120
"""A network that was cut is noticed within this."""
# Rows of a table may have to wait for long, while Kafka is slow; locks are waited for less long.
_SESSION = (
    "SET SESSION time_zone = '+00:00', lock_wait_timeout = 60, net_write_timeout = 28800, "
    "wait_timeout = 28800, sql_mode = ''"
)

Connection: TypeAlias = connections.Connection
Value = bytes | None
ConnectionArguments = dict[str, object]


_FACTS = """
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'server_id', 'gtid_mode', 'log_bin',
  'binlog_format', 'binlog_row_image', 'binlog_row_metadata', 'binlog_checksum',
  'log_bin_compress', 'binlog_transaction_compression', 'binlog_row_value_options')
"""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the server is, and how it writes its log."""

    variables: Mapping[str, str]

    @property
    def is_mariadb(self) -> bool:
        """Or else it is MySQL."""
        return "MariaDB" in self.variables.get("version", "")

    @property
    def has_gtids(self) -> bool:
        """Whether all transactions have ids; MariaDB's always do."""
        return self.is_mariadb or self.variables.get("gtid_mode") == "ON"

    @property
    def server_id(self) -> int:
        """Which events have that were written there."""
        return int(self.variables.get("server_id", "0"))


class MariaDbServer:
    """Opens connections; errors come without the password."""

    def __init__(self, config: Mapping[str, str]) -> None:
        host, port = required(config, "database.hostname"), number(config, "database.port", 3306)
        self.name = f"{host}:{port}"
        prefix = config.get("topic.prefix", "")
        own = 1_000_000_000 + zlib.crc32(prefix.encode()) % 1_000_000_000
        self.reader_id = number(config, "database.server.id", own)
        """A number for the connector, as a replica has one; no two may have the same."""
        self.arguments: ConnectionArguments = {
            "host": host,
            "port": port,
            "user": required(config, "database.user"),
            "password": config.get("database.password", ""),
            "charset": "utf8mb4",
            "autocommit": True,
            "connect_timeout": _CONNECT_TIMEOUT_S,
            "read_timeout": _READ_TIMEOUT_S,
            "conv": dict(encoders),  # values stay the texts that the server sends
            "use_unicode": False,
            **_tls(config),
        }

    def facts(self, connection: Connection) -> ServerFacts:
        """As its variables have them."""
        rows = self.rows(connection, _FACTS)
        return ServerFacts({str(name).lower(): value or "" for name, value in rows})

    def connect(self) -> Connection:
        """An ordinary connection, on which each statement is a transaction."""
        try:
            connection = pymysql.connect(**self.arguments)
            with connection.cursor() as cursor:
                cursor.execute(_SESSION)
        except (pymysql.Error, OSError) as error:
            raise self.failure(error) from error
        return connection

    @staticmethod
    def close(connection: Connection) -> None:
        """Hang up, if that was not done."""
        if connection.open:
            connection.close()

    def failure(self, error: Exception) -> ConnectError:
        """What the server said; it may pass."""
        # The texts name hosts and users, never passwords.
        reason = error.args[1] if len(error.args) > 1 else error
        return RetriableConnectError(f"MariaDB at {self.name}: {reason}")

    def rows(
        self, connection: Connection, statement: str, parameters: Sequence[object] = ()
    ) -> list[tuple[str | None, ...]]:
        """All rows of a query, as texts."""
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, tuple(parameters) or None)
                found: Sequence[tuple[Value, ...]] = cursor.fetchall()
        except (pymysql.Error, OSError) as error:
            raise self.failure(error) from error
        return [tuple(None if each is None else each.decode() for each in row) for row in found]

    def run(self, connection: Connection, statement: str) -> None:
        """A statement without rows."""
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except (pymysql.Error, OSError) as error:
            raise self.failure(error) from error

    def streamed(self, connection: Connection, statement: str) -> Iterator[tuple[Value, ...]]:
        """Rows of a query as they are taken, so memory has a bound."""
        cursor = connection.cursor(SSCursor)
        try:
            cursor.execute(statement)
            yield from cursor.fetchall_unbuffered()
        except (pymysql.Error, OSError) as error:
            raise self.failure(error) from error
        finally:
            # Otherwise PyMySQL would read the rest of a table that nobody wants any more.
            if cursor._result is not None:
                cursor._result.unbuffered_active = False


def _tls(config: Mapping[str, str]) -> ConnectionArguments:
    mode = config.get("database.ssl.mode", "preferred").lower().replace("-", "_")
    if mode in ("disable", "disabled"):
        return {"ssl_disabled": True}
    if mode == "preferred":
        return {}
    context = ssl.create_default_context(cafile=config.get("database.ssl.ca"))
    context.check_hostname = mode in ("verify_identity", "verify_full")
    if mode in ("trust", "required"):
        context.verify_mode = ssl.CERT_NONE
    if "database.ssl.cert" in config:
        context.load_cert_chain(config["database.ssl.cert"], config.get("database.ssl.key"))
    return {"ssl": context}
