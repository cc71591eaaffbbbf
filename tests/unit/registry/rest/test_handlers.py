"""Each path answers as Confluent's does: body, status and code."""

import json
import urllib.request

import pytest

from unit.registry.started import StartedRegistry

NONE = {"schema": '{"type":"record","name":"R","fields":[]}'}
ONE = {
    "schema": '{"type":"record","name":"R","fields":[{"name":"x","type":"int","default":0}]}',
}
BAD = {"schema": '{"type":"record","name":"R","fields":[{"name":"x","type":"int"}]}'}


@pytest.fixture(scope="module", autouse=True)
def _schemas(registry: StartedRegistry) -> None:
    for subject, body in (("a", NONE), ("a", ONE), ("b", NONE)):
        registry.ask("POST", f"/subjects/{subject}/versions", body)
    using = '{"type":"record","name":"U","fields":[{"name":"r","type":"R"}]}'
    used = [{"name": "R", "subject": "b", "version": 1}]
    registry.ask("POST", "/subjects/u/versions", {"schema": using, "references": used})


NEWEST = {"subject": "a", "version": 2, "id": 2, **ONE}
PLACES = [{"subject": "a", "version": 1}, {"subject": "b", "version": 1}]
FITS = {"is_compatible": True, "messages": []}

# In the order in which they are asked.
TRANSCRIPT: list[tuple[str, str, object, int, object]] = [
    ("GET", "/", None, 200, {}),
    ("GET", "/schemas/types", None, 200, ["JSON", "PROTOBUF", "AVRO"]),
    ("GET", "/contexts", None, 200, ["."]),
    ("GET", "/contexts/.x/subjects", None, 422, 42208),
    ("GET", "/subjects", None, 200, ["a", "b", "u"]),
    ("GET", "/subjects?subjectPrefix=a", None, 200, ["a"]),
    ("GET", "/subjects/a/versions", None, 200, [1, 2]),
    ("GET", "/subjects/z/versions", None, 404, 40401),
    ("GET", "/subjects/a/versions/latest", None, 200, NEWEST),
    ("GET", "/subjects/a/versions/9", None, 404, 40402),
    ("GET", "/subjects/a/versions/x", None, 422, 42202),
    ("GET", "/subjects/a/versions/1/schema", None, 200, json.loads(NONE["schema"])),
    ("GET", "/subjects/b/versions/1/referencedby", None, 200, [3]),
    ("GET", "/schemas/ids/1", None, 200, NONE),
    ("GET", "/schemas/ids/1?fetchMaxId=true", None, 200, {**NONE, "maxId": 3}),
    ("GET", "/schemas/ids/99", None, 404, 40403),
    ("GET", "/schemas/ids/x", None, 404, 404),
    ("GET", "/schemas/ids/1/schema", None, 200, json.loads(NONE["schema"])),
    ("GET", "/schemas/ids/1/subjects", None, 200, ["a", "b"]),
    ("GET", "/schemas/ids/1/versions", None, 200, PLACES),
    ("GET", "/schemas?latestOnly=true&subjectPrefix=a", None, 200, [NEWEST]),
    ("POST", "/subjects/a", NONE, 200, {"subject": "a", "version": 1, "id": 1, **NONE}),
    ("POST", "/subjects/a", BAD, 404, 40403),
    ("POST", "/subjects/z", NONE, 404, 40401),
    ("POST", "/subjects/a/versions", ONE, 200, {"id": 2}),
    ("POST", "/subjects/b/versions", BAD, 409, 409),
    ("POST", "/subjects/b/versions", {"schema": "nonsense"}, 422, 42201),
    ("POST", "/subjects/%3A.c%3Ab/versions", NONE, 422, 42208),
    ("POST", "/compatibility/subjects/a/versions/latest", ONE, 200, {"is_compatible": True}),
    ("POST", "/compatibility/subjects/b/versions", BAD, 200, {"is_compatible": False}),
    ("POST", "/compatibility/subjects/a/versions/1?verbose=true", ONE, 200, FITS),
    ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/a", None, 404, 40408),
    ("GET", "/config/a?defaultToGlobal=true", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("PUT", "/config/a", {"compatibility": "FULL"}, 200, {"compatibility": "FULL"}),
    ("PUT", "/config/a", {"compatibility": "HALF"}, 422, 42203),
    ("PUT", "/config", {"compatibility": "NONE"}, 200, {"compatibility": "NONE"}),
    ("DELETE", "/config", None, 200, {"compatibilityLevel": "NONE"}),
    ("DELETE", "/config/a", None, 200, {"compatibilityLevel": "FULL"}),
    ("DELETE", "/config/a", None, 404, 40401),
    ("GET", "/mode", None, 200, {"mode": "READWRITE"}),
    ("GET", "/mode/a", None, 404, 40409),
    ("PUT", "/mode/a", {"mode": "READONLY"}, 200, {"mode": "READONLY"}),
    ("POST", "/subjects/a/versions", {"schema": '"int"'}, 422, 42205),
    ("DELETE", "/mode/a", None, 200, {"mode": "READONLY"}),
    ("PUT", "/mode", {"mode": "IMPORT"}, 422, 42205),
    ("PUT", "/mode", {"mode": "SOMEHOW"}, 422, 42204),
    ("DELETE", "/subjects/b", None, 422, 42206),
    ("DELETE", "/subjects/a/versions/1?permanent=true", None, 404, 40407),
    ("DELETE", "/subjects/a/versions/1", None, 200, 1),
    ("GET", "/subjects/a/versions", None, 200, [2]),
    ("GET", "/subjects/a/versions?deleted=true", None, 200, [1, 2]),
    ("GET", "/subjects/a/versions?deletedOnly=true", None, 200, [1]),
    ("DELETE", "/subjects/a", None, 200, [2]),
    ("DELETE", "/subjects/a", None, 404, 40404),
    ("GET", "/subjects?deletedOnly=true", None, 200, ["a"]),
    ("GET", "/schemas/ids/2", None, 200, ONE),
    ("DELETE", "/subjects/a?permanent=true", None, 200, [1, 2]),
    ("GET", "/schemas/ids/2", None, 404, 40403),
    ("GET", "/nowhere", None, 404, 404),
    ("PUT", "/subjects", None, 405, 405),
]


def test_a_conversation(registry: StartedRegistry) -> None:
    for method, path, body, status, expected in TRANSCRIPT:
        found = registry.ask(method, path, body)
        shown = found.body["error_code"] if isinstance(expected, int) and status != 200 else None
        assert (method, path, found.status) == (method, path, status), found.body
        assert (found.body if shown is None else shown) == expected, path


def test_reasons_are_said_if_they_are_asked_for(registry: StartedRegistry) -> None:
    path = "/compatibility/subjects/b/versions/latest?verbose=true"
    found = registry.ask("POST", path, BAD).body
    assert not found["is_compatible"]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in found["messages"][0]


def test_the_content_type_is_the_registrys(registry: StartedRegistry) -> None:
    with urllib.request.urlopen(f"{registry.url}/subjects", timeout=30) as answer:
        assert answer.headers["Content-Type"] == "application/vnd.schemaregistry.v1+json"


def test_protobuf_is_given_as_a_descriptor_on_demand(registry: StartedRegistry) -> None:
    text = 'syntax = "proto3";\n\nmessage P {\n}\n'
    body = {"schema": text, "schemaType": "PROTOBUF"}
    schema_id = registry.ask("POST", "/subjects/p/versions", body).body["id"]
    found = registry.ask("GET", f"/schemas/ids/{schema_id}?format=serialized").body["schema"]
    again = registry.ask("POST", "/subjects/q/versions", {**body, "schema": found})
    assert again.body == {"id": schema_id}


def test_normalized_schemas_are_the_same(registry: StartedRegistry) -> None:
    one = {"schema": '{"type":"object","title":"t"}', "schemaType": "JSON"}
    other = {"schema": '{"title":"t","type":"object"}', "schemaType": "JSON"}
    ids = [
        registry.ask("POST", f"/subjects/n{at}/versions?normalize=true", body).body["id"]
        for at, body in enumerate((one, other))
    ]
    assert ids[0] == ids[1]
