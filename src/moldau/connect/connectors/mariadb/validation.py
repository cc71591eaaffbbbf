"""What only the server knows of settings: whether it answers, and can give its log."""

from collections.abc import Mapping

from moldau.connect.connectors.mariadb.server import MariaDbServer, ServerFacts
from moldau.connect.errors import ConnectError

# Variable -> what it must be, and why.
_WANTED = {
    "log_bin": ("ON", "there is no log to read: start the server with --log-bin"),
    "binlog_format": ("ROW", "the log must have rows"),
    "binlog_row_image": ("FULL", "the log must have all columns of a row"),
    "binlog_row_metadata": (
        "FULL",
        "the log must have the names and types of columns (MariaDB 10.5, MySQL 8.0.1 and later)",
    ),
    "binlog_checksum": ("CRC32", "the log's ends cannot be found without checksums"),
}
_UNWANTED = {
    "log_bin_compress": ("OFF", "compressed events are not read"),
    "binlog_transaction_compression": ("OFF", "compressed transactions are not read"),
    "binlog_row_value_options": ("", "values must be whole"),
}
_LOCKS = ("RELOAD", "FLUSH_TABLES", "ALL PRIVILEGES")
_RIGHTS = ("REPLICATION SLAVE", "REPLICATION REPLICA", "ALL PRIVILEGES")


def server_problem(config: Mapping[str, str]) -> str | None:
    """None if the connector can work."""
    try:
        server = MariaDbServer(config)
        connection = server.connect()
    except ConnectError as error:
        return str(error)
    try:
        facts = server.facts(connection)
        problem = log_problem(facts)
        grants = [str(row[0]) for row in server.rows(connection, "SHOW GRANTS")]
    except ConnectError as error:
        return str(error)
    finally:
        server.close(connection)
    if problem is not None:
        return problem
    user = config.get("database.user")
    if not any(right in grant for grant in grants for right in _RIGHTS):
        return (
            f"user {user} may not read the log: GRANT REPLICATION SLAVE, REPLICATION CLIENT, "
            f"SELECT ON *.* TO {user}"
        )
    if locks(config, facts) and not any(right in grant for grant in grants for right in _LOCKS):
        return (
            f"user {user} may not lock the server: GRANT RELOAD ON *.* TO {user}; or set "
            "snapshot.locking.mode=none, if nobody writes while the connector begins"
        )
    return None


def locks(config: Mapping[str, str], facts: ServerFacts) -> bool:
    """Whether the first read locks the server, if only for a moment."""
    if config.get("snapshot.mode", "initial") == "no_data":
        return False
    mode = config.get("snapshot.locking.mode", "minimal")
    return mode == "extended" or (mode == "minimal" and not facts.is_mariadb)


def log_problem(facts: ServerFacts) -> str | None:
    """What is wrong with how the server writes its log, if anything."""
    for name, (wanted, why) in _WANTED.items():
        found = facts.variables.get(name, "not known")
        if found.upper() != wanted:
            return f"{name} is {found}: {why}; SET GLOBAL {name} = {wanted}"
    for name, (wanted, why) in _UNWANTED.items():
        found = facts.variables.get(name, wanted)
        if found.upper() != wanted:
            return f"{name} is {found}: {why}; SET GLOBAL {name} = '{wanted}'"
    return None
