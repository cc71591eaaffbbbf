"""Nodes that every cluster has."""

from moldau.coordination.layout.roots import PERSISTENT_PATHS, SENSITIVE_ROOTS, with_parents
from unit.coordination.layout.conftest import Nodes


def test_the_paths_are_those_of_apache_kafka(apache: Nodes) -> None:
    assert ",".join(PERSISTENT_PATHS).encode() == apache["persistent"]
    assert ",".join(SENSITIVE_ROOTS).encode() == apache["sensitive"]


def test_parents_come_before_their_children() -> None:
    assert with_parents(("/a/b", "/a/c", "/d")) == ["/a", "/a/b", "/a/c", "/d"]
