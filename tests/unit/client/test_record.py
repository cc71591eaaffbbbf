"""What clients hand out."""

from moldau.client.record import RecordMetadata


def test_the_place_of_a_record_has_names() -> None:
    place = RecordMetadata("orders", 1, 42, 1000)
    assert (place.topic, place.partition, place.offset, place.timestamp) == ("orders", 1, 42, 1000)
