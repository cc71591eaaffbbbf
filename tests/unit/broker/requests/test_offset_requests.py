"""Who asks for offsets, by the versions of requests."""

from moldau.broker.requests.offset_requests import identity_of


def test_members_of_the_consumer_protocol_need_version_9() -> None:
    assert not identity_of(8, "m", 1, None).knows_epochs
    assert identity_of(9, "m", 1, "i") == ("m", 1, "i", True)
