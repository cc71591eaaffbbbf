"""Names as parts of paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordination.layout.names import desanitize, sanitize


@pytest.mark.parametrize("name", ["al ice*", "a/b", "ü:+~", "<default>", "%", "a.b-_"])
def test_names_are_encoded_as_apache_kafka_encodes_them(apache, name):
    assert sanitize(name).encode() == apache[f"sanitize {name}"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_encoded_name_reads_back(name):
    assert desanitize(sanitize(name)) == name
    assert "/" not in sanitize(name)
