"""Access control lists."""

import pytest

from moldau.coordination.layout.acls import (
    ROOT_PATHS,
    AclEntry,
    ResourcePattern,
    decode_acl_change,
    decode_acls,
    encode_acl_change,
    encode_acls,
)
from moldau.coordination.layout.documents import NodeDataError
from unit.coordination.layout.conftest import Nodes


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("acl", AclEntry("User:alice", "Allow", "Read", "*")),
        ("acl-2", AclEntry('User:b"é', "Deny", "IdempotentWrite", "h")),
    ],
)
def test_entries_are_written_as_apache_kafka_writes_them(
    apache: Nodes, name: str, entry: AclEntry
) -> None:
    assert encode_acls([entry]) == apache[name]
    assert decode_acls(apache[name]) == [entry]


def test_a_node_without_data_has_no_entries() -> None:
    assert decode_acls(b"") == []


@pytest.mark.parametrize(
    ("wire_name", "kind"),
    [
        ("TOPIC", "Topic"),
        ("GROUP", "Group"),
        ("CLUSTER", "Cluster"),
        ("TRANSACTIONAL_ID", "TransactionalId"),
        ("DELEGATION_TOKEN", "DelegationToken"),
        ("USER", "User"),
    ],
)
def test_paths_are_those_of_apache_kafka(apache: Nodes, wire_name: str, kind: str) -> None:
    literal, prefixed = ResourcePattern(kind, "x y é"), ResourcePattern(kind, "x y é", True)
    assert literal.path.encode() == apache[f"acl-path-{wire_name}-LITERAL"]
    assert prefixed.path.encode() == apache[f"acl-path-{wire_name}-PREFIXED"]
    assert f"/kafka-acl/{kind}" in ROOT_PATHS


def test_changes_are_told_as_apache_kafka_tells_them(apache: Nodes) -> None:
    literal, prefixed = ResourcePattern("Topic", "x"), ResourcePattern("Topic", "x", True)
    assert encode_acl_change(literal) == apache["acl-change-literal"]
    assert encode_acl_change(prefixed) == apache["acl-change-ext"]
    assert decode_acl_change(apache["acl-change-literal"], is_extended=False) == literal
    assert decode_acl_change(apache["acl-change-ext"], is_extended=True) == prefixed
    assert literal.change_prefix.encode() == apache["acl-change-literal-path"]
    assert prefixed.change_prefix.encode() == apache["acl-change-ext-path"]


def test_the_names_of_kafka_2_are_read_too() -> None:
    assert decode_acl_change(b"Topic:a:b", is_extended=False) == ResourcePattern("Topic", "a:b")


@pytest.mark.parametrize("data", [b"Topic", b"Colour:x", b"\xff:x"])
def test_a_change_of_no_resource_is_refused(data: bytes) -> None:
    with pytest.raises(NodeDataError):
        decode_acl_change(data, is_extended=False)
