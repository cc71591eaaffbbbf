"""ZooKeeper's messages, byte for byte."""

import pytest

from moldau.coordination.tree import Change, NodeStat, WatchEvent
from moldau.zookeeper import jute
from moldau.zookeeper.messages import (
    ConnectRequest,
    Err,
    connect_answer,
    notification,
    read_connect,
    reply,
    stat_bytes,
)

_ASKED = jute.integer(0) + jute.long(9) + jute.integer(4000) + jute.long(5) + jute.buffer(b"p" * 16)


@pytest.mark.parametrize("has_read_only", [False, True])
def test_older_clients_do_not_speak_of_read_only_servers(has_read_only: bool) -> None:
    data = _ASKED + (b"\1" if has_read_only else b"")
    request = read_connect(memoryview(data))
    assert request == ConnectRequest(9, 4000, 5, b"p" * 16, has_read_only)
    answer = connect_answer(request, 5, b"p" * 16, 4000)
    assert len(answer) == 4 + 4 + 4 + 8 + 4 + 16 + has_read_only


def test_an_answer_has_the_number_of_its_request_the_transaction_and_the_error() -> None:
    assert reply(3, 4, Err.NO_NODE) == (
        jute.integer(16) + jute.integer(3) + jute.long(4) + jute.integer(-101)
    )


def test_a_notification_says_what_happened_where() -> None:
    told = notification(WatchEvent(Change.DELETED, "/a"))
    header = jute.integer(-1) + jute.long(-1) + jute.integer(0)
    assert told[4:] == header + jute.integer(2) + jute.integer(3) + jute.text("/a")


def test_a_stat_has_68_bytes_and_the_length_of_the_data() -> None:
    stat = NodeStat(1, 2, 3, 0, 4, 5, 6, pzxid=7, children_version=8, acl_version=9)
    found = stat_bytes(stat, b"abc")
    assert len(found) == 68
    assert found[-16:] == jute.integer(3) + jute.integer(4) + jute.long(7)
    assert stat_bytes(stat, None)[-16:-12] == jute.integer(0)
