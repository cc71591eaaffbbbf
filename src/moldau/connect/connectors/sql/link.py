"""The connection of a connector to its database, by the settings of the JDBC connectors."""

from collections.abc import Mapping

from moldau.connect.config.definition import PluginSetting
from moldau.connect.config.values import required
from moldau.connect.connectors.sql.database import Database
from moldau.connect.connectors.sql.opening import connect

SETTINGS = (
    PluginSetting("connection.url", required=True, importance="HIGH"),
    PluginSetting("connection.user"),
    PluginSetting("connection.password", "PASSWORD"),
)


class DatabaseLink:
    """Connects when the database is first needed."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._config = config
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        """The same until it is closed."""
        if self._database is None:
            self._database = connect(
                required(self._config, "connection.url"),
                self._config.get("connection.user"),
                self._config.get("connection.password"),
            )
        return self._database

    def close(self) -> None:
        """Hang up."""
        if self._database is not None:
            self._database.close()
            self._database = None
