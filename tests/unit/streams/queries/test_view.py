"""A view follows its topic, and shows what is committed."""

import time
from collections.abc import Iterator

import pytest

from moldau.client.blocking.producer import Producer
from moldau.errors import UnknownTopicOrPartition
from moldau.streams.queries.values import WindowedKey, encode
from moldau.streams.queries.view import TableView
from moldau.streams.serdes import STRING, WindowedSerde
from moldau.testing.broker import EmbeddedBroker, running_broker

DEADLINE_S = 60.0


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with running_broker({"num.partitions": "2"}) as broker:
        yield broker


def produce(broker: EmbeddedBroker, topic: str, *rows: tuple[bytes, bytes | None]) -> None:
    with Producer[bytes, bytes](bootstrap_servers=broker.bootstrap_servers) as producer:
        for key, value in rows:
            producer.send(topic, value, key=key)


def wait_for(view: TableView, key: bytes, value: bytes) -> None:
    """A transaction is ended before its markers are written, so a commit shows a little later."""
    deadline = time.monotonic() + DEADLINE_S
    while view.get(key) != value:
        assert time.monotonic() < deadline, f"{key!r} never became {value!r}"
        view.wait_until_current()


def test_the_latest_value_of_a_key_is_found(broker: EmbeddedBroker) -> None:
    produce(broker, "latest", (b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", None), (b"c", b"4"))
    with TableView(broker.bootstrap_servers, "latest", key=STRING, value=STRING) as view:
        view.wait_until_current()
        assert len(view) == 2
        assert (view.get("a"), view.get("b")) == ("3", None)
        assert view.rows() == [("a", "3"), ("c", "4")]
        assert view.rows(after="a", limit=1) == [("c", "4")]
        produce(broker, "latest", (b"a", b"5"))
        view.wait_until_current()
        assert view.get("a") == "5"


def test_what_is_not_committed_is_not_seen(broker: EmbeddedBroker) -> None:
    with (
        Producer[bytes, bytes](
            bootstrap_servers=broker.bootstrap_servers, transactional_id="writer"
        ) as producer,
        TableView({"bootstrap.servers": broker.bootstrap_servers}, "batches") as view,
    ):
        with producer.transaction():
            producer.send("batches", b"1", key=b"a")
        producer.begin_transaction()
        producer.send("batches", b"2", key=b"a")
        producer.flush()
        wait_for(view, b"a", b"1")
        view.wait_until_current()
        assert view.get(b"a") == b"1"
        producer.abort_transaction()
        with producer.transaction():
            producer.send("batches", b"3", key=b"b")
        wait_for(view, b"b", b"3")
        assert view.rows() == [(b"a", b"1"), (b"b", b"3")]


def test_windows_of_a_key_are_not_those_of_a_longer_one(broker: EmbeddedBroker) -> None:
    serde = WindowedSerde(STRING)
    keys = [WindowedKey("a", 20), WindowedKey("a", 10), WindowedKey("ab", 10)]
    produce(broker, "windows", *((encode(serde, (each[0], each[1])), b"x") for each in keys))
    with TableView(broker.bootstrap_servers, "windows", key=serde, value=STRING) as view:
        view.wait_until_current()
        assert view.windows("a") == [(WindowedKey("a", 10), "x"), (WindowedKey("a", 20), "x")]
        assert view.get(("a", 20)) == "x"


def test_a_table_without_windows_has_none(broker: EmbeddedBroker) -> None:
    produce(broker, "plain", (b"a", b"1"))
    with (
        TableView(broker.bootstrap_servers, "plain", key=STRING) as view,
        pytest.raises(TypeError, match="no windows"),
    ):
        view.windows("a")


def test_a_view_of_no_topic_creates_none(broker: EmbeddedBroker) -> None:
    with (
        TableView(broker.bootstrap_servers, "typo") as view,
        pytest.raises(UnknownTopicOrPartition, match="there is no topic typo"),
    ):
        view.wait_until_current()
    assert "typo" not in broker.look(lambda inside: set(inside.metadata.image.topics))


def test_a_view_waits_until_somebody_creates_its_topic(broker: EmbeddedBroker) -> None:
    with TableView(broker.bootstrap_servers, "later", key=STRING, value=STRING) as view:
        with pytest.raises(UnknownTopicOrPartition):
            view.wait_until_current()
        assert view.get("a") is None
        produce(broker, "later", (b"a", b"1"))
        view.wait_until_current()
        assert view.get("a") == "1"


def test_a_view_that_has_stopped_says_why(broker: EmbeddedBroker) -> None:
    produce(broker, "large", (b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
    with TableView(broker.bootstrap_servers, "large", keys_max=2) as view:
        with pytest.raises(RuntimeError, match="has stopped") as stopped:
            view.wait_until_current()
        assert "raise keys_max" in str(stopped.value.__cause__)
        with pytest.raises(RuntimeError, match="has stopped"):
            view.get(b"a")
