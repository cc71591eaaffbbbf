"""Debezium's ExtractNewRecordState: the row itself in the place of its envelope."""

from collections.abc import Mapping

from moldau.connect.config.values import listed
from moldau.connect.data.record import NULL, ConnectRecord, Datum
from moldau.connect.data.schema import Field, Kind, Schema, optional
from moldau.connect.errors import ConfigError
from moldau.connect.transforms.paths import found_at
from moldau.connect.transforms.side import RecordSide

_MODES = ("drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone")
_DELETED = "__deleted"


class ExtractNewRecordState:
    """`delete.tombstone.handling.mode`, `add.fields` and `add.headers` as Debezium has them."""

    def __init__(self, settings: Mapping[str, str], side: RecordSide) -> None:
        del side
        self._mode = settings.get("delete.tombstone.handling.mode", "tombstone")
        if self._mode not in _MODES:
            raise ConfigError(
                f"Invalid value {self._mode} for configuration delete.tombstone.handling.mode: "
                f"Value must be one of {', '.join(_MODES)}"
            )
        prefix = settings.get("add.fields.prefix", "__")
        self._fields = [(each, prefix + _joined(each)) for each in listed(settings, "add.fields")]
        prefix = settings.get("add.headers.prefix", "__")
        self._headers = [(each, prefix + _joined(each)) for each in listed(settings, "add.headers")]

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """Records without an envelope pass."""
        if record.value.value is None:
            keeps = self._mode in ("tombstone", "rewrite-with-tombstone")
            return record if keeps else None
        if not is_envelope(record.value):
            return record
        record = record.but(
            headers=(
                *record.headers,
                *((name, self._found(record.value, path)) for path, name in self._headers),
            )
        )
        after = found_at(record.value, ["after"])
        if after is None or after.value is None:
            return self._deleted(record)
        return record.but(value=self._row(record.value, after, is_deleted=False))

    def _deleted(self, record: ConnectRecord) -> ConnectRecord | None:
        if self._mode in ("tombstone", "drop"):
            return None
        if self._mode == "delete-to-tombstone":
            return record.but(value=NULL)
        before = found_at(record.value, ["before"])
        if before is None or before.value is None:
            return None
        return record.but(value=self._row(record.value, before, is_deleted=True))

    def _row(self, envelope: Datum, row: Datum, *, is_deleted: bool) -> Datum:
        assert isinstance(row.value, dict), "rows have columns"
        value = dict(row.value)
        added: list[Field] = []
        if self._mode.startswith("rewrite"):
            value[_DELETED] = "true" if is_deleted else "false"
            added.append(Field(_DELETED, optional(Schema(Kind.STRING))))
        for path, name in self._fields:
            found = self._found(envelope, path)
            value[name] = found.value
            if found.schema is not None:
                added.append(Field(name, optional(found.schema)))
        if row.schema is None:
            return Datum(value)
        return Datum(value, row.schema.but(fields=(*row.schema.fields, *added)))

    def _found(self, envelope: Datum, path: str) -> Datum:
        """A field of the envelope, or of its source."""
        if "." in path:
            return found_at(envelope, path.split(".")) or NULL
        found = found_at(envelope, [path])
        if found is None or (envelope.schema is None and found.value is None):
            return found_at(envelope, ["source", path]) or NULL
        return found


def is_envelope(datum: Datum) -> bool:
    """Whether a value is a change as Debezium describes it."""
    if datum.schema is not None:
        return (datum.schema.name or "").endswith(".Envelope")
    return isinstance(datum.value, dict) and {"op", "source", "after"} <= set(datum.value)


def _joined(path: str) -> str:
    return path.replace(".", "_")
