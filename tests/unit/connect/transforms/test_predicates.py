"""The three predicates choose as Java's do."""

from moldau.connect.data.record import ConnectRecord, Datum
from moldau.connect.transforms.predicates import (
    has_header_key,
    record_is_tombstone,
    topic_name_matches,
)


def test_a_topics_whole_name_has_to_match() -> None:
    matches = topic_name_matches({"pattern": "a.*"})
    assert matches(ConnectRecord("ab"))
    assert not matches(ConnectRecord("ba"))


def test_headers_and_tombstones_are_seen() -> None:
    record = ConnectRecord("t", value=Datum(1), headers=(("h", Datum(1)),))
    assert has_header_key({"name": "h"})(record)
    assert not has_header_key({"name": "g"})(record)
    assert not record_is_tombstone({})(record)
    assert record_is_tombstone({})(ConnectRecord("t"))
