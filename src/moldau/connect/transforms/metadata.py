"""SetSchemaMetadata: the name or version of a schema."""

from collections.abc import Mapping

from moldau.connect.config.values import number
from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.errors import DataError
from moldau.connect.transforms.side import RecordSide


class SetSchemaMetadata:
    """Changes what a schema is called."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        self._side = side
        self._name = settings.get("schema.name")
        self._version = number(settings, "schema.version", 0) or None

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """A tombstone has no schema and passes; any other value must have one."""
        datum = self._side.of(record)
        if datum.value is None and datum.schema is None:
            return record
        if datum.schema is None:
            raise DataError("Schema required for [updating schema metadata]")
        schema = datum.schema
        if self._name is not None:
            schema = schema.but(name=self._name)
        if self._version is not None:
            schema = schema.but(version=self._version)
        return self._side.set(record, Datum(datum.value, schema))
