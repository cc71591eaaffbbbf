"""What clients get: schemas and numbers in Confluent's JSON, fields in its order."""

from starlette.responses import JSONResponse, Response

from moldau.registry.records import AVRO, StoredSchema

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
OFFSET_HEADER = "x-registry-offset"
"""By which a follower knows what it has to have read before it passes the answer on."""


def answer(value: object, offset: int | None = None) -> Response:
    """A value as JSON."""
    headers = {} if offset is None else {OFFSET_HEADER: str(offset)}
    return JSONResponse(value, headers=headers, media_type=CONTENT_TYPE)


def bare_schema(schema: StoredSchema, text: str | None = None) -> dict[str, object]:
    """A schema by its id, without a place."""
    found: dict[str, object] = {}
    if schema.kind != AVRO:
        found["schemaType"] = schema.kind
    found["schema"] = schema.text if text is None else text
    return found | _references(schema)


def placed_schema(schema: StoredSchema, text: str | None = None) -> dict[str, object]:
    """A version of a subject."""
    found: dict[str, object] = {
        "subject": schema.subject,
        "version": schema.version,
        "id": schema.schema_id,
    }
    if schema.kind != AVRO:
        found["schemaType"] = schema.kind
    return found | _references(schema) | {"schema": schema.text if text is None else text}


def _references(schema: StoredSchema) -> dict[str, object]:
    listed = [each.as_json() for each in schema.references]
    return {"references": listed} if listed else {}
