"""Databases are opened by the addresses that JDBC has for them."""

import pytest

from moldau.connect.connectors.sql.database import without_password
from moldau.connect.connectors.sql.opening import connect, with_login
from moldau.connect.errors import ConfigError


def test_passwords_are_put_in_and_never_shown() -> None:
    url = with_login("postgresql://h:5/d?sslmode=require", "u", "p@ss")
    assert url == "postgresql://u:p%40ss@h:5/d?sslmode=require"
    assert with_login("postgresql://h/d?user=u&password=p", None, None) == "postgresql://u:p@h/d"
    assert with_login("mariadb://u@h:5/d", None, "p@ss") == "mariadb://u:p%40ss@h:5/d"
    assert with_login("mariadb://u:p@h/d", None, "other") == "mariadb://u:p@h/d"
    assert without_password(url) == "postgresql://h:5/d"


def test_other_databases_are_refused() -> None:
    with pytest.raises(ConfigError, match="neither SQLite nor PostgreSQL, MariaDB"):
        connect("jdbc:oracle:x", None, None)
