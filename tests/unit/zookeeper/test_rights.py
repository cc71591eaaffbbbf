"""Who may do what with a node."""

import pytest

from moldau.zookeeper.jute import JuteReader, Malformed
from moldau.zookeeper.messages import Err, Refused
from moldau.zookeeper.rights import (
    ALL,
    OPEN,
    Entry,
    Id,
    NodeRight,
    digest_id,
    entries_bytes,
    entries_of,
    is_allowed,
    read_entries,
    stored_text,
)

ANYONE = Id("world", "anyone")
# What ZooKeeper's DigestAuthenticationProvider makes of super:test.
SUPER = Id("digest", "super:D/InIHSb7yEEbrWz8b9l71RjZJU=")


def test_a_list_goes_over_the_wire_and_back() -> None:
    entries = [Entry(1, "world", "anyone"), Entry(31, "digest", "a:b")]
    assert read_entries(JuteReader(entries_bytes(entries))) == entries


def test_a_list_that_is_too_long_is_no_list() -> None:
    with pytest.raises(Malformed):
        read_entries(JuteReader(b"\0\0\x0f\xff" + bytes(10_000)))


def test_what_is_open_to_all_is_stored_as_nothing() -> None:
    assert stored_text(OPEN, []) == ""
    assert entries_of("") == OPEN
    assert is_allowed("", NodeRight.ADMIN, [])


def test_proofs_are_hashed_as_zookeeper_does() -> None:
    assert digest_id(b"super:test") == SUPER
    with pytest.raises(Refused) as refused:
        digest_id(b"nothing")
    assert refused.value.code == Err.AUTH_FAILED


def test_auth_stands_for_who_asks() -> None:
    stored = stored_text([Entry(int(ALL), "auth", "")], [ANYONE, SUPER])
    assert entries_of(stored) == [Entry(31, *SUPER)]
    assert is_allowed(stored, NodeRight.WRITE, [ANYONE, SUPER])
    assert not is_allowed(stored, NodeRight.WRITE, [ANYONE])


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [Entry(31, "auth", "")],
        [Entry(31, "world", "somebody")],
        [Entry(31, "digest", "a")],
        [Entry(31, "ip", "everywhere")],
        [Entry(31, "sasl", "kafka")],
    ],
)
def test_a_list_that_lets_nobody_in_is_refused(entries: list[Entry]) -> None:
    with pytest.raises(Refused) as refused:
        stored_text(entries, [ANYONE])
    assert refused.value.code == Err.INVALID_ACL


def test_each_right_is_apart() -> None:
    stored = stored_text([Entry(int(NodeRight.READ), "world", "anyone")], [])
    assert is_allowed(stored, NodeRight.READ, [ANYONE])
    assert not is_allowed(stored, NodeRight.WRITE, [ANYONE])


def test_an_address_is_in_a_network_or_not() -> None:
    stored = stored_text([Entry(31, "ip", "10.0.0.0/8")], [])
    assert is_allowed(stored, NodeRight.READ, [Id("ip", "10.1.2.3")])
    assert not is_allowed(stored, NodeRight.READ, [Id("ip", "11.1.2.3")])
