"""Names of fields, top-level or nested (KIP-821)."""

from collections.abc import Mapping

from moldau.connect.data.record import Datum
from moldau.connect.data.schema import Kind, Schema
from moldau.connect.errors import ConfigError, DataError


def path_of(settings: Mapping[str, str], name: str) -> list[str]:
    """The steps to a field: one, or with `field.syntax.version=V2` what stands between dots."""
    text = settings[name]
    if settings.get("field.syntax.version", "V1").upper() != "V2":
        return [text]
    steps, rest = [], text
    while rest:
        if rest.startswith("`"):
            end = rest.find("`", 1)
            while end != -1 and rest[end + 1 : end + 2] not in ("", "."):
                end = rest.find("`", end + 1)
            if end == -1:
                raise ConfigError(
                    f"Incomplete backtick pair in path: [{text}], consider adding a backslash "
                    "before backtick"
                )
            steps.append(rest[1:end].replace("\\`", "`"))
            rest = rest[end + 2 :]
        else:
            step, _, rest = rest.partition(".")
            steps.append(step)
    return steps


def found_at(datum: Datum, path: list[str]) -> Datum | None:
    """What a path leads to; None if a schema has no such field, null where a map has none."""
    schema, value = datum.schema, datum.value
    for step in path:
        if schema is not None and schema.kind is Kind.STRUCT:
            field = schema.field(step)
            if field is None:
                return None
            schema = field.schema
        else:
            schema = _of_map(schema)
        value = value.get(step) if isinstance(value, dict) else None
    return Datum(value, schema)


def _of_map(schema: Schema | None) -> Schema | None:
    if schema is None:
        return None
    if schema.kind is not Kind.MAP:
        raise DataError(f"{schema.kind.value} has no fields")
    return schema.value
