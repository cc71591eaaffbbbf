"""The fast path of a record to its leader: the thread that sends it calls the broker itself.

A caller that writes one record and waits for it gains nothing from the event loop in the other
thread, but waits for it to wake up twice. Every other case takes the usual path: other
threads that send, older batches, leaders that move, and whatever the broker does not like.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from moldau.client.blocking.loop_thread import LoopThread
from moldau.client.blocking.own_connection import OwnConnection
from moldau.client.producer.accumulator import OutgoingRecord
from moldau.client.producer.admission import RecordAdmission
from moldau.client.producer.batches import Batch
from moldau.client.producer.produce_template import PRODUCE, ProduceTemplate
from moldau.client.producer.sender import Sender
from moldau.client.settings import ACKS_NONE, ProducerSettings
from moldau.errors import ErrorCode, KafkaError
from moldau.model import TopicPartition

if TYPE_CHECKING:
    from moldau.client.producer.intake import Receipt


def suits(settings: ProducerSettings) -> bool:
    """Whether a producer with these settings has a use for the direct way."""
    is_patient = settings.linger_ms > 0 or settings.required_acks == ACKS_NONE
    return not (is_patient or settings.transactional_id or settings.uses_tls)


class DirectWay:
    """Sends records one by one over connections of its own, one for each leader.

    A batch that it sends is *in flight* as any other; while it is, nothing else goes to the same
    partition. If it is not stored at the first try, the sender takes over.
    """

    def __init__(self, thread: LoopThread, admission: RecordAdmission, sender: Sender) -> None:
        self._thread = thread
        self._admission = admission
        self._sender = sender
        self._connections: dict[int, OwnConnection] = {}
        self._in_use = threading.Lock()

    def send(
        self, topic: str, record: OutgoingRecord, partition: int | None = None
    ) -> "Receipt | None":
        """Send a record if that can be done at once; its receipt may be settled then."""
        if not self._in_use.acquire(blocking=False):
            return None
        try:
            receipt = self._admission.admit_quietly(topic, record, partition)
            if receipt is not None and not self._bring(receipt.batch):
                self._admission.wake()
            return receipt
        finally:
            self._in_use.release()

    def close(self) -> None:
        """Hang up on all leaders."""
        with self._in_use:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def _bring(self, batch: Batch) -> bool:
        """Bring a batch to its leader; False if the sender must do it."""
        leader = self._sender.cluster.metadata.leader_of(batch.partition)
        identity = self._sender.identity
        if leader is None or (identity is None and self._sender.needs_identity):
            return False
        connection = self._connection(leader)
        if connection is None or not self._sender.accumulator.take_alone(batch, identity):
            return False
        template = self._template(connection, batch.partition)
        try:
            timeout_s = self._sender.cluster.timeout_s
            sealed = self._sender.sealed(batch, template.version)
            frame = connection.produce(template, sealed, timeout_s=timeout_s)
        except BaseException as error:  # Ctrl-C too: whether the batch is stored is not known
            self._connections.pop(leader).close()
            failure = _failure(error)
            self._hand_over(lambda: self._sender.settlement.fail(batch, failure))
            if failure is not error:
                raise
            return True
        stored = template.stored(frame)
        if stored is None:
            self._hand_over(lambda: self._sender.settle([batch], frame, template.version))
        else:
            self._deliver(batch, *stored)
        return True

    def _connection(self, leader: int) -> OwnConnection | None:
        connection = self._connections.get(leader)
        cluster = self._sender.cluster
        if connection is None:
            try:
                opened = self._thread.call(cluster.open_apart(leader))
            except KafkaError:
                return None  # the sender finds out what is wrong
            name = f"broker {leader}"
            connection = OwnConnection(name, opened)
            self._connections[leader] = connection
        elif connection.session.is_due(now_ms=cluster.clock.monotonic_ms()):
            self._connections.pop(leader).close()
            return None
        return connection

    def _template(self, connection: OwnConnection, partition: TopicPartition) -> ProduceTemplate:
        template = connection.templates.get(partition)
        if template is None:
            template = connection.templates[partition] = ProduceTemplate(
                self._sender.request({partition: b""}),
                connection.versions.newest(PRODUCE),
                self._sender.cluster.settings.client_id,
            )
        return template

    def _deliver(self, batch: Batch, base_offset: int, append_time_ms: int) -> None:
        accumulator = self._sender.accumulator
        accumulator.store(batch)
        batch.deliver(base_offset, append_time_ms)
        # To wake the loop takes time, which is only spent if a caller waits. Both sides
        # first say what they do and look then, so that they cannot miss each other.
        if accumulator.waiting_count:
            self._thread.call_soon(self._sender.settlement.wake_waiting)
        if accumulator[batch.partition].oldest_waiting is not None:
            self._admission.wake()

    def _hand_over(self, settle: Callable[[], None]) -> None:
        self._thread.call_soon(settle)
        self._thread.call_soon(self._sender.wake)


def _failure(error: BaseException) -> KafkaError:
    if isinstance(error, KafkaError):
        return error
    return KafkaError(ErrorCode.NETWORK_EXCEPTION, f"interrupted: {error!r}")
