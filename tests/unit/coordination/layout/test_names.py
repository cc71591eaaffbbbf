"""Names as parts of paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordination.layout.names import desanitize, sanitize
from unit.coordination.layout.conftest import Nodes


@pytest.mark.parametrize("name", ["al ice*", "a/b", "ü:+~", "<default>", "%", "a.b-_"])
def test_names_are_encoded_as_apache_kafka_encodes_them(apache: Nodes, name: str) -> None:
    assert sanitize(name).encode() == apache[f"sanitize {name}"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_encoded_name_reads_back(name: str) -> None:
    assert desanitize(sanitize(name)) == name
    assert "/" not in sanitize(name)
