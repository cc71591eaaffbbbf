"""The controller's nodes."""

import pytest

from moldau.coordination.layout.controller import (
    ControllerRegistration,
    decode_controller,
    decode_epoch,
    encode_epoch,
)
from moldau.coordination.layout.documents import NodeDataError
from unit.coordination.layout.conftest import Nodes

_REGISTRATION = ControllerRegistration(broker_id=1, timestamp_ms=1_600_000_000_000)


def test_the_controller_is_written_as_apache_kafka_writes_it(apache: Nodes) -> None:
    assert _REGISTRATION.encode() == apache["controller"]
    assert decode_controller(apache["controller"]) == _REGISTRATION


def test_a_controller_of_version_1_is_read() -> None:
    data = b'{"version":1,"brokerid":1,"timestamp":"1600000000000"}'
    assert decode_controller(data) == _REGISTRATION


def test_the_epoch_is_a_plain_number(apache: Nodes) -> None:
    assert encode_epoch(5) == apache["controller-epoch"]
    assert decode_epoch(apache["controller-epoch"]) == 5
    with pytest.raises(NodeDataError):
        decode_epoch(b"\xff")
