"""Topics are listed, described, created, changed and deleted."""

import pytest

from moldau.console.api.topics import changes_of
from moldau.web.errors import WebError
from unit.console.asking import Asking


async def test_a_topic_comes_and_goes(console: Asking) -> None:
    body = {"name": "comes", "partitions": 2, "configs": {"retention.ms": "1000"}}
    would = await console.send("POST", "/topics", {**body, "validate_only": True})
    assert would["partitions"] == 2
    assert (await console.refused("GET", "/topics/comes"))[0] == 404
    await console.send("POST", "/topics", body)
    (row,) = (x for x in (await console.get("/topics"))["topics"] if x["name"] == "comes")
    assert (row["partitions"], row["replicas"], row["is_internal"]) == (2, 1, False)
    await console.send("POST", "/topics/comes/partitions", {"total": 3})
    assert len((await console.get("/topics/comes"))["partitions"]) == 3
    status, message = await console.refused("DELETE", "/topics/comes", {"confirm": "come"})
    assert (status, message) == (400, "confirm: send the name comes to delete the topic")
    await console.send("DELETE", "/topics/comes", {"confirm": "comes"})
    assert (await console.refused("GET", "/topics/comes"))[0] == 404


async def test_settings_are_changed_one_at_a_time(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "set", "configs": {"segment.ms": "100000"}})
    await console.send("PATCH", "/topics/set/configs", {"configs": {"retention.ms": "5000"}})
    first, second, *_ = (await console.get("/topics/set/configs"))["configs"]
    assert (first["default"], second["default"]) == ("604800000", "604800000"), "a week in hours"
    assert (first["name"], first["value"], first["is_set"]) == ("retention.ms", "5000", True)
    assert second["name"] == "segment.ms"
    assert first["documentation"]
    await console.send("PATCH", "/topics/set/configs", {"configs": {"retention.ms": None}})
    first, second, *_ = (await console.get("/topics/set/configs"))["configs"]
    assert (first["name"], second["is_set"]) == ("segment.ms", False)
    status, message = await console.refused(
        "PATCH", "/topics/set/configs", {"configs": {"retention.ms": "soon"}}
    )
    assert status == 409
    assert "INVALID_CONFIG" in message


async def test_groups_of_a_topic_are_found(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "read", "partitions": 1})
    offsets = {"offsets": [{"topic": "read", "partition": 0, "offset": 0}]}
    await console.send("POST", "/groups/reader/offsets", offsets)
    assert (await console.get("/topics/read/consumers")) == {
        "is_partial": False,
        "groups": [{"group": "reader", "partitions": 1}],
    }


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "a", "partitions": "2"}, {"name": "a", "configs": [1]}]
)
async def test_what_is_no_topic_is_refused(console: Asking, body: dict[str, object]) -> None:
    assert (await console.refused("POST", "/topics", body))[0] == 400


def test_settings_are_texts_or_null() -> None:
    assert changes_of({"configs": {"a": "1", "b": None}}) == {"a": "1", "b": None}
    with pytest.raises(WebError, match="neither"):
        changes_of({"configs": {"a": 1}})
