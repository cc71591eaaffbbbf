"""The shapes of topics whose schemas a registry has."""

import base64
import json
from collections.abc import Callable, Mapping

from moldau.client.registry import Registry, RegistryError, SubjectName
from moldau.streams.sql.shapes import AVRO, JSON, PROTOBUF, TopicShape

Descriptors = tuple[bytes, str]
"""A set of descriptors, and the full name of the first message in it."""
_NO_SUBJECT = 40401
_NOT_FOUND = 404
_TYPES = {"string": "string", "integer": "bigint", "number": "double", "boolean": "boolean"}


class RegisteredShapes:
    """Asks a registry for the newest schema of a topic's values.

    `describe` reads the text of a `.proto`, which takes a parser that not everybody has.
    """

    def __init__(self, registry: Registry, describe: Callable[[str], Descriptors]) -> None:
        self._registry = registry
        self._describe = describe

    def find(self, topic: str) -> TopicShape | None:
        """The shape of a topic; None if nothing is registered for its values."""
        try:
            _, schema = self._registry.latest(SubjectName.TOPIC.of(topic))
        except RegistryError as error:
            if error.code in (_NO_SUBJECT, _NOT_FOUND):
                return None
            raise
        if schema.kind == "AVRO":
            return TopicShape(AVRO, schema.text, has_header=True)
        if schema.kind == "JSON":
            return TopicShape(JSON, columns_of_schema(schema.text), has_header=True)
        descriptors, message = self._describe(schema.text)
        text = base64.b64encode(descriptors).decode()
        return TopicShape(PROTOBUF, text, message=message, has_header=True)


def columns_of_schema(text: str) -> str:
    """The columns of a JSON Schema, as SQL writes them; what is not plain is text."""
    properties = json.loads(text).get("properties")
    if not isinstance(properties, dict) or not properties:
        raise ValueError("the JSON Schema names no properties: declare the columns instead")
    return ", ".join(f"`{name}` {_type(kind)}" for name, kind in properties.items())


def _type(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "string"
    for choices in (schema.get("oneOf"), schema.get("anyOf")):
        if isinstance(choices, list):
            known = [each for each in choices if each != {"type": "null"}]
            return _type(known[0]) if len(known) == 1 else "string"
    kind = schema.get("type")
    if isinstance(kind, list):
        known = [each for each in kind if each != "null"]
        kind = known[0] if len(known) == 1 else None
    if kind == "array":
        return f"array<{_type(schema.get('items'))}>"
    properties = schema.get("properties")
    if kind == "object" and isinstance(properties, dict) and properties:
        return (
            f"struct<{', '.join(f'`{name}`: {_type(each)}' for name, each in properties.items())}>"
        )
    return _TYPES.get(str(kind), "string")
