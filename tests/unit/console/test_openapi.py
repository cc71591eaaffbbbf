"""The description has every endpoint, with its parameters."""

from moldau.console.app import ENDPOINTS
from moldau.console.openapi import document


def test_every_endpoint_is_described() -> None:
    paths = document(ENDPOINTS)["paths"]
    assert isinstance(paths, dict)
    described = {(method.upper(), path) for path, found in paths.items() for method in found}
    assert described == {(each.method, each.path) for each in ENDPOINTS}


def test_an_operation_names_what_is_sent() -> None:
    (endpoint,) = (each for each in ENDPOINTS if each.path.endswith("/groups/{group}/plan"))
    found = document([endpoint])["paths"]
    assert isinstance(found, dict)
    operation = found[endpoint.path]["post"]
    assert [each["name"] for each in operation["parameters"]] == ["cluster", "group"]
    assert "viewer" in operation["description"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == {"to", "value", "topic"}
