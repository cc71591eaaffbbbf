"""The publication: what the server puts into the log's stream (`publication.autocreate.mode`)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from moldau.connect.connectors.capture.tables import TableName
from moldau.connect.connectors.postgresql.catalog import quoted_name, quoted_table
from moldau.connect.connectors.postgresql.server import Connection, DatabaseServer
from moldau.connect.errors import ConfigError

_log = logging.getLogger(__name__)

AUTOCREATE_MODES = ("all_tables", "disabled", "filtered", "no_tables")
_EXISTS = "SELECT puballtables FROM pg_publication WHERE pubname = %s"
_HAS = "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s"


@dataclass(frozen=True, slots=True)
class PublicationSettings:
    """What settings say of it."""

    name: str
    mode: str
    via_root: bool = False


def prepare_publication(
    server: DatabaseServer,
    connection: Connection,
    settings: PublicationSettings,
    tables: Sequence[TableName],
) -> None:
    """Make or change it, as far as the mode allows."""
    name, mode = settings.name, settings.mode
    found = server.rows(connection, _EXISTS, [name])
    if found and mode == "filtered" and not found[0][0]:
        _adapt(server, connection, name, tables)
    if found:
        return
    if mode == "disabled":
        raise ConfigError(
            f"publication {name} is not there, and publication.autocreate.mode=disabled: make it "
            f"with CREATE PUBLICATION {quoted_name(name)} FOR TABLE …"
        )
    target = {"all_tables": " FOR ALL TABLES", "no_tables": ""}.get(mode)
    if target is None:
        target = f" FOR TABLE {_listed(tables)}" if tables else ""
    if mode == "filtered" and not tables:
        raise ConfigError(
            f"publication {name} cannot be made: no table is captured; look at the include and "
            "exclude lists"
        )
    options = " WITH (publish_via_partition_root = true)" if settings.via_root else ""
    server.run(connection, f"CREATE PUBLICATION {quoted_name(name)}{target}{options}")
    _log.info("publication %s was made (%s)", name, mode)


def _adapt(
    server: DatabaseServer, connection: Connection, name: str, tables: Sequence[TableName]
) -> None:
    rows = server.rows(connection, _HAS, [name])
    has = {TableName(str(schema), str(table)) for schema, table in rows}
    if tables and has != set(tables):
        statement = f"ALTER PUBLICATION {quoted_name(name)} SET TABLE {_listed(tables)}"
        server.run(connection, statement)
        _log.info("publication %s has other tables now: %s", name, ", ".join(map(str, tables)))


def _listed(tables: Sequence[TableName]) -> str:
    return ", ".join(f"ONLY {quoted_table(each)}" for each in tables)
