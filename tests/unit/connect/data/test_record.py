"""Records are changed by making others."""

from moldau.connect.data.record import NULL, ConnectRecord, Datum


def test_a_changed_record_leaves_the_first_as_it_was() -> None:
    record = ConnectRecord("t", value=Datum(1))
    assert record.but(topic="u") == ConnectRecord("u", value=Datum(1))
    assert record.topic == "t"
    assert record.key is NULL
