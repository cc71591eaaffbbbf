"""Our declarations, field by field and version by version, against Kafka's definitions.

Records that brokers store are not defined in the jars; `test_message_bytes` covers them.
"""

import functools
import re
from typing import Any

import pytest

from conformance.apache.definitions import message_definitions
from conformance.apache.marks import needs_apache
from moldau.protocol.apis import APIS
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from moldau.protocol.schema import Field, fields_of

pytestmark = needs_apache("kafka-3.9", "clients-4")

KAFKA_4_KEYS = (68, 69)  # their version 1 is newer than 3.9
WIRE = [cls for api in APIS for cls in (api.request, api.response)]
DEFINED = [*WIRE, ConsumerProtocolSubscription, ConsumerProtocolAssignment]

definitions = functools.cache(message_definitions)


@pytest.mark.parametrize("cls", DEFINED, ids=lambda cls: cls.__name__)
def test_a_declaration_says_what_the_definition_says(cls: type) -> None:
    facts = facts_of(cls)
    is_newer = facts.api_key in KAFKA_4_KEYS
    definition = definitions("clients-4" if is_newer else "kafka-3.9")[cls.__name__]
    theirs = versions_in(definition["validVersions"], range(facts.versions[-1] + 1))
    assert list(facts.versions) == theirs
    assert definition.get("apiKey") == facts.api_key
    assert [v for v in facts.versions if facts.is_flexible(v)] == versions_in(
        definition["flexibleVersions"], facts.versions
    )
    structs = {each["name"]: each["fields"] for each in definition.get("commonStructs", [])}
    compare_fields(cls, definition["fields"], structs, list(facts.versions))


def test_every_api_that_a_zookeeper_mode_broker_serves_is_declared() -> None:
    served = {
        definition["apiKey"]
        for definition in definitions("kafka-3.9").values()
        if definition["type"] == "request" and "zkBroker" in definition["listeners"]
    }
    assert {api.key for api in APIS} == served | {75}


def compare_fields(cls: type, theirs: list[Any], structs: Any, versions: list[int]) -> None:
    """`versions` are those in which the struct itself is on the wire."""
    theirs = [each for each in theirs if versions_in(each["versions"], versions)]
    ours = [field for field in fields_of(cls) if any(map(field.is_in, versions))]
    assert [field.name for field in ours] == [snake_case(each["name"]) for each in theirs]
    for field, definition in zip(ours, theirs, strict=True):
        present = versions_in(definition["versions"], versions)
        where = f"{cls.__name__}.{field.name}"
        assert [v for v in versions if field.is_in(v)] == present, where
        nullable = versions_in(definition.get("nullableVersions", "none"), present)
        assert [v for v in present if field.is_nullable_in(v)] == nullable, where
        tagged = versions_in(definition.get("taggedVersions", "none"), present)
        assert tagged == ([] if field.tag is None else present), where
        assert field.tag == (int(definition["tag"]) if tagged else None), where
        compare_type(where, field, definition)
        compare_default(where, field, definition)
        if present != versions:
            assert field.is_ignorable == is_true(definition.get("ignorable", False)), where
        if field.struct is not None:
            name = definition["type"].removeprefix("[]")
            fields = definition.get("fields") or structs[name]
            compare_fields(field.struct, fields, structs, present)


def compare_type(where: str, field: Field, definition: Any) -> None:
    assert field.is_array == definition["type"].startswith("[]"), where
    if field.primitive is not None:
        assert field.primitive.name == definition["type"].removeprefix("[]"), where


def compare_default(where: str, field: Field, definition: Any) -> None:
    if field.struct is not None and not field.is_array:
        assert field.default is None, where
        return
    given = definition.get("default")
    if given is None:
        zero = [] if field.is_array else field.primitive.zero if field.primitive else None
        assert field.default == zero, where
    elif given == "null":
        assert field.default is None, where
    elif isinstance(field.default, bool):
        assert field.default == is_true(given), where
    elif isinstance(field.default, int):
        assert field.default == int(str(given), 0), where
    else:
        assert field.default == given, where


def versions_in(text: str, among: Any) -> list[int]:
    """The versions that Kafka writes as `3`, `3-5`, `3+` or `none`."""
    if text == "none":
        return []
    first, _, last = text.rstrip("+").partition("-")
    upper = float("inf") if text.endswith("+") else int(last or first)
    return [version for version in among if int(first) <= version <= upper]


def snake_case(name: str) -> str:
    return re.sub("(?!^)([A-Z])", r"_\1", name.replace("KRaft", "Kraft")).lower()


def is_true(value: object) -> bool:
    return str(value).lower() == "true"
