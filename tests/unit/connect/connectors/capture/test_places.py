"""What records are called after."""

from moldau.connect.connectors.capture.places import Place, RecordNames
from moldau.connect.connectors.postgresql.places import LogPlace


def test_a_databases_place_is_one() -> None:
    place: Place = LogPlace(1, None, 2, 3)
    assert (place.time_us, place.transaction) == (3, "2:1")
    assert RecordNames("p", "d").heartbeat_prefix == "__debezium-heartbeat"
