"""What only the server knows of settings: whether it answers, and can give its log."""

from collections.abc import Mapping

from moldau.connect.connectors.postgresql.server import DatabaseServer
from moldau.connect.errors import ConnectError

_FACTS = """
SELECT current_setting('wal_level'), rolreplication OR rolsuper
  OR pg_has_role(rolname, (SELECT oid FROM pg_roles WHERE rolname = 'rds_replication'), 'MEMBER')
  IS TRUE
FROM pg_roles WHERE rolname = current_user
"""


def server_problem(config: Mapping[str, str]) -> str | None:
    """None if the connector can work."""
    try:
        server = DatabaseServer(config)
        connection = server.connect("validation")
    except ConnectError as error:
        return str(error)
    try:
        ((level, may_replicate),) = server.rows(connection, _FACTS)
    except ConnectError as error:
        return str(error)
    finally:
        connection.close()
    if level != "logical":
        return (
            f"wal_level is {level}: set wal_level=logical in postgresql.conf, and restart "
            "the server"
        )
    if not may_replicate:
        user = config.get("database.user")
        return f"user {user} may not replicate: ALTER ROLE {user} REPLICATION"
    return None
