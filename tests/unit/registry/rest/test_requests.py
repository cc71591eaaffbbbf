"""What stands in requests is checked before anything else is done."""

import json

import pytest
from starlette.requests import Request

from moldau.registry.records import SchemaReference
from moldau.registry.rest.requests import (
    SCHEMA_MAX_BYTES,
    body_of,
    flag,
    id_of,
    new_schema,
    page,
    subject_of,
)
from moldau.web.errors import WebError


def request(query: str = "", **params: str) -> Request:
    scope = {"type": "http", "query_string": query.encode(), "headers": [], "path_params": params}
    return Request(scope)


async def test_a_schema_is_avro_unless_it_says_otherwise() -> None:
    new = await new_schema(b'{"schema":"\\"int\\""}')
    assert (new.text, new.kind, new.references) == ('"int"', "AVRO", ())
    body = {
        "schema": "{}",
        "schemaType": "json",
        "references": [{"name": "n", "subject": "s", "version": 2}],
        "id": 7,
        "version": -1,
    }
    new = await new_schema(json.dumps(body).encode())
    assert new.kind == "JSON"
    assert new.references == (SchemaReference("n", "s", 2),)
    assert (new.schema_id, new.version) == (7, None)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, 42201),
        ({"schema": " "}, 42201),
        ({"schema": 7}, 42201),
        ({"schema": "{}", "schemaType": 7}, 42201),
        ({"schema": "{}", "references": 7}, 42201),
        ({"schema": "{}", "references": [{"name": "n"}]}, 42201),
        (
            {"schema": "{}", "references": [{"name": "n", "subject": ":.c:s", "version": 1}]},
            42208,
        ),
        ({"schema": "{}", "metadata": {"properties": {}}}, 422),
        ({"schema": "{}", "ruleSet": {"domainRules": []}}, 422),
        ({"schema": "{}", "id": "x"}, 422),
        ({"schema": "x" * (SCHEMA_MAX_BYTES + 1)}, 42209),
        ({"schema": "x" * 5_000_000}, 42209),
        ([], 422),
    ],
)
async def test_what_is_no_schema_is_refused(body: object, code: int) -> None:
    with pytest.raises(WebError) as refused:
        await new_schema(json.dumps(body).encode())
    assert refused.value.code == code


async def test_a_body_is_an_object() -> None:
    assert await body_of(b'{"a":1}') == {"a": 1}
    with pytest.raises(WebError):
        await body_of(b"7")


def test_a_subject_may_have_any_name_but_that_of_a_context() -> None:
    assert subject_of(request(subject="a%2Fb%20%C3%BC")) == "a/b ü"
    for name in (":.ctx:a", "a%00b", "a%0Ab"):
        with pytest.raises(WebError) as refused:
            subject_of(request(subject=name))
        assert refused.value.code == 42208


@pytest.mark.parametrize("text", ["x", "-1", "²", "99999999999"])
def test_what_is_no_id_is_not_found(text: str) -> None:
    with pytest.raises(WebError) as refused:
        id_of(request(id=text))
    assert refused.value.status == 404


def test_switches_and_pages_of_the_query() -> None:
    assert flag(request("deleted=TRUE"), "deleted")
    assert not flag(request("deleted=1"), "deleted")
    assert list(range(10))[page(request("offset=2&limit=3"))] == [2, 3, 4]
    assert list(range(10))[page(request("offset=8"))] == [8, 9]
    assert list(range(3))[page(request("limit=-1"))] == [0, 1, 2]
    with pytest.raises(WebError):
        page(request("limit=many"))
