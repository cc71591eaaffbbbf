"""Connections to the server that settings name, with texts of values as they are read here."""

from collections.abc import Mapping, Sequence

import psycopg

from moldau.connect.config.values import number, required
from moldau.connect.errors import ConnectError, RetriableConnectError

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_FILES = ("sslcert", "sslkey", "sslrootcert", "sslpassword")
_PARAMETERS = {
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    "client_encoding": "UTF8",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
_CONNECT_TIMEOUT_S = 10
# A table that somebody rebuilds is waited for so long; then it is tried again.
_LOCK_TIMEOUT = "-c lock_timeout=60000"

Parameters = dict[str, str | int]
Connection = psycopg.Connection[tuple[object, ...]]


class DatabaseServer:
    """Opens connections; errors come without the password."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._parameters: Parameters = {
            "host": required(config, "database.hostname"),
            "port": number(config, "database.port", 5432),
            "user": required(config, "database.user"),
            "dbname": required(config, "database.dbname"),
            "sslmode": config.get("database.sslmode", "prefer"),
            "connect_timeout": _CONNECT_TIMEOUT_S,
            # A network that was cut is noticed within a minute.
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "options": " ".join(f"-c {name}={value}" for name, value in _PARAMETERS.items()),
        }
        if "database.password" in config:
            self._parameters["password"] = config["database.password"]
        for name in _FILES:
            if f"database.{name}" in config:
                self._parameters[name] = config[f"database.{name}"]
        host, port = self._parameters["host"], self._parameters["port"]
        self.database = required(config, "database.dbname")
        self.name = f"{host}:{port}/{self.database}"

    def connect(self, purpose: str) -> Connection:
        """An ordinary connection, on which each statement is a transaction."""
        return self._open(purpose, {"options": f"{self._parameters['options']} {_LOCK_TIMEOUT}"})

    def replicate(self, purpose: str) -> Connection:
        """A connection that speaks the replication protocol."""
        return self._open(purpose, {"replication": "database"})

    def _open(self, purpose: str, more: Parameters) -> Connection:
        parameters = {
            **self._parameters,
            **more,
            "application_name": f"moldau-connect {purpose}"[:63],
        }
        try:
            return psycopg.connect(autocommit=True, **parameters)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise self.failure(error) from error

    def failure(self, error: psycopg.Error) -> ConnectError:
        """What the server said; it may pass."""
        # libpq's texts name hosts and users, never passwords.
        return RetriableConnectError(f"PostgreSQL at {self.name}: {str(error).strip()}")

    def rows(
        self, connection: Connection, statement: str, parameters: Sequence[object] = ()
    ) -> list[tuple[object, ...]]:
        """All rows of a query."""
        try:
            return connection.execute(statement.encode(), parameters or None).fetchall()
        except psycopg.Error as error:
            raise self.failure(error) from error

    def run(self, connection: Connection, statement: str) -> None:
        """A statement without rows or parameters."""
        try:
            connection.execute(statement.encode())
        except psycopg.Error as error:
            raise self.failure(error) from error
