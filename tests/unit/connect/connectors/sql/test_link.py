"""A connection is made when it is needed, and anew after it was closed."""

from pathlib import Path

import pytest

from moldau.connect.connectors.sql.link import DatabaseLink
from moldau.connect.errors import ConfigError


def test_a_database_is_opened_once_and_anew_after_closing(tmp_path: Path) -> None:
    link = DatabaseLink({"connection.url": f"jdbc:sqlite:{tmp_path}/d"})
    link.close()
    first = link.database
    assert link.database is first
    link.close()
    assert link.database is not first
    link.close()


def test_an_address_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"connection\.url"):
        _ = DatabaseLink({}).database
