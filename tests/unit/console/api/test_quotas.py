"""Quotas are set and taken away for users, clients and addresses."""

import pytest

from moldau.console.api.quotas import entity_of, values_of
from moldau.web.errors import WebError
from unit.console.asking import Asking


async def test_quotas_are_set_shown_and_taken_away(console: Asking) -> None:
    hostile = "<img src=x>"
    for entity, values in (
        ({"user": None}, {"producer_byte_rate": 1024, "request_percentage": 12.5}),
        ({"user": "anna", "client-id": hostile}, {"consumer_byte_rate": 2048}),
        ({"ip": "10.0.0.1"}, {"connection_creation_rate": 5}),
    ):
        await console.send("PATCH", "/quotas", {"entity": entity, "values": values})
    rows = (await console.get("/quotas"))["quotas"]
    assert {"entity": {"ip": "10.0.0.1"}, "values": {"connection_creation_rate": 5}} in rows
    assert {
        "entity": {"user": "anna", "client-id": hostile},
        "values": {"consumer_byte_rate": 2048},
    } in rows
    only_checked = {"entity": {"user": "ben"}, "values": {"producer_byte_rate": 1}}
    await console.send("PATCH", "/quotas", {**only_checked, "validate_only": True})
    assert len((await console.get("/quotas"))["quotas"]) == len(rows) == 3
    for row in rows:
        gone = {**row, "values": dict.fromkeys(row["values"])}
        await console.send("PATCH", "/quotas", gone)
    assert (await console.get("/quotas"))["quotas"] == []


@pytest.mark.parametrize(
    "entity", [None, {}, [], {"door": "a"}, {"ip": "1", "user": "a"}, {"user": 1}, {"user": ""}]
)
def test_what_has_no_quotas_is_refused(entity: object) -> None:
    with pytest.raises(WebError, match=r"^entity:"):
        entity_of({"entity": entity})


@pytest.mark.parametrize("value", [0, -1, "1", True, float("inf"), float("nan"), []])
def test_what_is_no_quota_is_refused(value: object) -> None:
    with pytest.raises(WebError, match=r"^values: producer_byte_rate"):
        values_of({"values": {"producer_byte_rate": value}}, {"user"})


@pytest.mark.parametrize("values", [None, {}, {"connection_creation_rate": 1}, {"speed": 1}])
def test_quotas_of_others_are_refused(values: object) -> None:
    with pytest.raises(WebError, match=r"^values: an object of"):
        values_of({"values": values}, {"user"})
