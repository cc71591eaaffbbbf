"""Ctrl-C interrupts whatever blocks, and the client can be used and closed afterwards."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest

from moldau.client.arrow.reading import read_topic
from moldau.client.blocking import Admin, Consumer, Producer
from moldau.errors import NetworkException
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Delay

T0 = TopicPartition("t", 0)
TABLE = pa.table({"value": pa.array([b"v"], pa.binary())})
# Much longer than it takes to notice a key press, and long enough to fail without one.
HELD = Delay(20)


class Desk:
    """One of each client, and a broker that holds back what it is asked."""

    def __init__(self, kafka: EmbeddedBroker, stack: ExitStack) -> None:
        servers = kafka.bootstrap_servers
        self.kafka = kafka
        self.producer = stack.enter_context(
            Producer[bytes, bytes](bootstrap_servers=servers, retry_backoff_ms=5)
        )
        self.transactional = stack.enter_context(
            Producer[bytes, bytes](
                bootstrap_servers=servers, retry_backoff_ms=5, transactional_id="id"
            )
        )
        self.consumer = stack.enter_context(
            Consumer[bytes, bytes](bootstrap_servers=servers, group_id="g", retry_backoff_ms=5)
        )
        self.small = stack.enter_context(
            Producer[bytes, bytes](
                bootstrap_servers=servers, retry_backoff_ms=5, batch_size=100, buffer_memory=1000
            )
        )
        self.admin = stack.enter_context(Admin(bootstrap_servers=servers))
        self.producer.send_and_wait("t", b"v")
        self.producer.send_table("t", TABLE).result()  # importing is not what is interrupted
        self.consumer.assign({T0: 2})

    def flush(self) -> None:
        self.producer.send("t", b"v")
        self.producer.flush()

    def hold(self, api: str) -> Callable[[], None]:
        """Answer nothing of this kind; returns what ends that."""
        return self.kafka.control(api, lambda _: HELD)

    def fill_buffer(self) -> None:
        for _ in range(100):
            self.small.send("t", b"v" * 50)

    def close(self) -> None:
        self.small.send("t", b"v")
        self.small.close()

    def commit_transaction(self) -> None:
        with self.transactional.transaction():
            self.transactional.send("t", b"v")


@pytest.fixture
def desk(kafka: EmbeddedBroker) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(kafka, stack)


CALLS: dict[str, tuple[str, Callable[[Desk], object]]] = {
    "start": (
        "Metadata",
        lambda desk: Producer(bootstrap_servers=desk.kafka.bootstrap_servers),
    ),
    "send to a new topic": ("Metadata", lambda desk: desk.producer.send("new", b"v")),
    "result": ("Produce", lambda desk: desk.producer.send("t", b"v").result()),
    "send_and_wait": ("Produce", lambda desk: desk.producer.send_and_wait("t", b"v")),
    "flush": ("Produce", lambda desk: desk.flush()),
    "send_table": (
        "Produce",
        lambda desk: desk.producer.send_table("t", TABLE).result(),
    ),
    "send to a full buffer": ("Produce", lambda desk: desk.fill_buffer()),
    "close": ("Produce", lambda desk: desk.close()),
    "transaction": ("EndTxn", lambda desk: desk.commit_transaction()),
    "poll": ("Fetch", lambda desk: desk.consumer.poll(20)),
    "iterate": ("Fetch", lambda desk: next(desk.consumer)),
    "poll_table": ("Fetch", lambda desk: desk.consumer.poll_table(20)),
    "read_topic": (
        "Fetch",
        lambda desk: read_topic("t", bootstrap_servers=desk.kafka.bootstrap_servers),
    ),
    "commit": ("OffsetCommit", lambda desk: desk.consumer.commit({T0: 1})),
    "committed": ("OffsetFetch", lambda desk: desk.consumer.committed([T0])),
    "end_offsets": ("ListOffsets", lambda desk: desk.consumer.end_offsets([T0])),
    "seek_to_time": ("ListOffsets", lambda desk: desk.consumer.seek_to_time(0)),
    "admin": ("ListGroups", lambda desk: desk.admin.list_groups()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_interrupted(desk: Desk, name: str) -> None:
    api, call = CALLS[name]
    release = desk.hold(api)
    with pytest.raises(KeyboardInterrupt):
        call_and_press_ctrl_c(lambda: call(desk))
    release()
    desk.kafka.restart()  # which forgets what it has held back
    assert desk.producer.send("t", b"last").result(20).offset >= 0


@pytest.fixture
def slow_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Set when a name server, which takes much longer than anybody waits, has answered."""
    is_asked_to, has_answered = threading.Event(), threading.Event()

    def getaddrinfo(*_: object, **__: object) -> list[object]:
        is_asked_to.wait(20)
        has_answered.set()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield has_answered
    is_asked_to.set()


def test_a_start_is_interrupted_while_names_are_looked_up(slow_names: threading.Event) -> None:
    with pytest.raises(KeyboardInterrupt):
        call_and_press_ctrl_c(lambda: Producer(bootstrap_servers="slow.example:1"))
    assert not slow_names.is_set()


@pytest.mark.parametrize("client", [Producer, Consumer, Admin])
def test_a_start_is_interrupted_while_no_broker_is_up(client: Callable[..., object]) -> None:
    with pytest.raises(KeyboardInterrupt):
        call_and_press_ctrl_c(lambda: client(bootstrap_servers="127.0.0.1:1"))


def test_a_start_fails_in_time_while_names_are_looked_up(slow_names: threading.Event) -> None:
    with pytest.raises(NetworkException, match=r"slow\.example:1"):
        Producer(bootstrap_servers="slow.example:1", request_timeout_ms=100, max_block_ms=1)
    assert not slow_names.is_set()


def call_and_press_ctrl_c(call: Callable[[], object]) -> None:
    """Press it while the call blocks, and fail as a test if it does not block for long."""
    pressing = threading.Timer(0.2, press_ctrl_c)
    pressing.start()
    call()
    pressing.cancel()


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
