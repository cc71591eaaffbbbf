"""The options of a sink, with the names of Spark's own Kafka sink."""

from collections.abc import Mapping
from dataclasses import dataclass

from moldau.client.settings import ProducerSettings, read_settings
from moldau.spark.client_settings import client_settings

TIMEOUT_MS = 900_000
"""How long a transaction may take unless it is said: as long as brokers let it."""

_REFUSED = {
    "key.serializer": "keys are binary or text, and written as they are",
    "value.serializer": "values are binary or text, and written as they are",
    "transactional.id": "it is made from the id of the query",
}


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """Everything that the options of a sink say."""

    client: tuple[tuple[str, str], ...]
    topic: str | None = None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> "SinkOptions":
        """Read the options, whose names are compared without regard to case."""
        given = {name.lower(): value for name, value in options.items()}
        found = cls(client_settings(ProducerSettings, given, _REFUSED), given.get("topic"))
        found.settings()
        return found

    def settings(self, transactional_id: str = "") -> ProducerSettings:
        """The settings of a producer; with a name, of one that writes in transactions."""
        settings: dict[str, object] = dict(self.client)
        if transactional_id:
            settings = {"transaction.timeout.ms": str(TIMEOUT_MS), **settings}
            settings["transactional.id"] = transactional_id
        return read_settings(ProducerSettings, settings, {})
