"""The language of declarations."""

import pytest

from moldau.protocol.declaration import MessageFacts, facts_of, message, since, struct
from moldau.protocol.primitives import Int32


@struct
class Part:
    number: Int32


@message(api_key=99, versions=range(1, 4), flexible_from=3)
class Whole:
    parts: list[Part]
    name: str | None = since(2, default=None)
    extras: list[Int32] = since(3, factory=list)


def test_a_message_keeps_its_facts() -> None:
    assert facts_of(Whole) == MessageFacts(api_key=99, versions=range(1, 4), flexible_from=3)


def test_flexible_versions_start_where_declared() -> None:
    assert [facts_of(Whole).is_flexible(version) for version in range(1, 4)] == [False, False, True]
    assert not MessageFacts(None, range(1), None).is_flexible(0)


def test_fields_of_later_versions_may_be_left_out() -> None:
    whole = Whole(parts=[Part(number=1)])
    assert whole.name is None
    assert whole.extras == []


def test_a_struct_has_no_facts_of_its_own() -> None:
    with pytest.raises(KeyError):
        facts_of(Part)
