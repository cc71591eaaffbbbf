"""Opens a database by its address."""

from urllib.parse import parse_qsl, quote, urlsplit

from moldau.connect.connectors.sql.database import Database, without_password
from moldau.connect.connectors.sql.sqlite import Sqlite
from moldau.connect.errors import ConfigError


def connect(url: str, user: str | None, password: str | None) -> Database:
    """Open `[jdbc:]sqlite:FILE`, `duckdb:FILE`, or `postgresql:`, `mariadb:`, `mysql://host/db`."""
    place = url.removeprefix("jdbc:")
    if place.startswith("sqlite:"):
        return Sqlite(place.removeprefix("sqlite:").removeprefix("//"))
    if place.startswith(("postgresql:", "postgres:")):
        from moldau.connect.connectors.sql.postgresql import Postgresql  # noqa: PLC0415 - extra

        return Postgresql(with_login(place, user, password))
    if place.startswith(("mariadb:", "mysql:")):
        from moldau.connect.connectors.sql.mariadb import MariaDb  # noqa: PLC0415 - extra

        return MariaDb(with_login(place, user, password))
    if place.startswith("duckdb:"):
        from moldau.connect.connectors.sql.duckdb import DuckDb  # noqa: PLC0415 - extra

        return DuckDb(place.removeprefix("duckdb:").removeprefix("//"))
    raise ConfigError(
        f"connection.url: {without_password(url)} is neither SQLite nor PostgreSQL, MariaDB, MySQL "
        "or DuckDB"
    )


def with_login(url: str, user: str | None, password: str | None) -> str:
    """An address with a user and a password, unless it has them."""
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query))
    user, password = given.pop("user", user), given.pop("password", password)
    netloc = parts.netloc
    if "@" not in netloc and user is not None:
        secret = "" if password is None else f":{quote(password, safe='')}"
        netloc = f"{quote(user, safe='')}{secret}@{netloc}"
    elif parts.username and parts.password is None and password is not None:
        login, _, place = netloc.rpartition("@")
        netloc = f"{login}:{quote(password, safe='')}@{place}"
    return parts._replace(
        netloc=netloc, query="&".join(f"{k}={v}" for k, v in given.items())
    ).geturl()
