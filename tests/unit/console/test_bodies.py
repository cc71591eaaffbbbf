"""Fields are of the type that is meant, or refused by name."""

import pytest

from moldau.console.bodies import (
    choice_of,
    confirm,
    objects_of,
    partition_of,
    text_of,
    whole_of,
)
from moldau.model import TopicPartition
from moldau.web.errors import WebError


def test_fields_are_read() -> None:
    sent = {"topic": "orders", "partition": 3, "kind": "Deny", "rows": [{"a": 1}]}
    assert partition_of(sent) == TopicPartition("orders", 3)
    assert choice_of(sent, "kind", ("allow", "deny")) == "deny"
    assert objects_of(sent, "rows") == [{"a": 1}]
    assert text_of({}, "host", "*") == "*"
    assert whole_of({}, "iterations", 4096, low=4096) == 4096
    confirm({"confirm": "orders"}, "orders", "delete")


@pytest.mark.parametrize("given", [None, "", 1, ["a"], {"a": 1}])
def test_what_is_no_text_is_refused_by_name(given: object) -> None:
    with pytest.raises(WebError, match="user: a text"):
        text_of({"user": given}, "user")


@pytest.mark.parametrize("given", [None, -1, 1.5, "1", True])
def test_what_is_no_whole_number_is_refused_by_name(given: object) -> None:
    with pytest.raises(WebError, match="partition: a whole number"):
        whole_of({"partition": given}, "partition")


@pytest.mark.parametrize("given", [None, [], {}, "a", [1], [{}, "a"], [{}] * 10_001])
def test_what_is_no_list_of_objects_is_refused_by_name(given: object) -> None:
    with pytest.raises(WebError, match="acls: a list"):
        objects_of({"acls": given}, "acls")


def test_what_is_unknown_or_not_confirmed_is_refused() -> None:
    with pytest.raises(WebError, match="one of allow, deny"):
        choice_of({"kind": "maybe"}, "kind", ("allow", "deny"))
    with pytest.raises(WebError, match="send orders again to delete"):
        confirm({"confirm": "order"}, "orders", "delete")
