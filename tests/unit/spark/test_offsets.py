"""Offsets as Spark's own Kafka source writes them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.model import TopicPartition
from moldau.spark.offsets import from_json, parse, to_json

partitions = st.builds(TopicPartition, st.text(min_size=1, max_size=5), st.integers(0, 20))


def test_the_shape_is_topics_then_partitions() -> None:
    offsets = {TopicPartition("b", 10): 3, TopicPartition("a", 2): 2, TopicPartition("a", 1): 1}
    assert json.dumps(to_json(offsets)) == '{"a": {"1": 1, "2": 2}, "b": {"10": 3}}'


@given(st.dictionaries(partitions, st.integers(0, 2**63 - 1)))
def test_what_is_written_is_read(offsets: dict[TopicPartition, int]) -> None:
    assert from_json(json.loads(json.dumps(to_json(offsets)))) == offsets


@pytest.mark.parametrize("text", ["", "7", '{"a": 7}', '{"a": {"x": 7}}', '{"a": {"0": null}}'])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r'startingOffsets: .* is not like \{"orders"'):
        parse("startingOffsets", text)
