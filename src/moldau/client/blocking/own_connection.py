"""A connection that threads use one at a time, without an event loop: a request, its answer."""

from moldau.client.connection.opening import OpenBroker
from moldau.client.connection.refusal import why
from moldau.client.connection.versions import BrokerVersions
from moldau.client.producer.produce_template import ProduceTemplate
from moldau.errors import ErrorCode, KafkaError, ProtocolError
from moldau.model import TopicPartition

_SIZE_BYTES = 4
_READ_BYTES = 64 << 10
_CORRELATION_COUNT = 2**31


class OwnConnection:
    """Takes over the socket of a connection that was opened, and maybe authenticated, elsewhere.

    It is of no use any more after an error.
    """

    def __init__(self, name: str, broker: OpenBroker) -> None:
        self._name = name
        self._correlation_id = 0
        self._timeout_s = 0.0
        self._traffic = broker.connection.traffic
        self._socket = broker.connection.take_socket()
        self.versions: BrokerVersions = broker.versions
        self.session = broker.session
        self.templates: dict[TopicPartition, ProduceTemplate] = {}

    def produce(
        self, template: ProduceTemplate, records: memoryview, *, timeout_s: float
    ) -> memoryview:
        """Send a batch and return the frame of its answer; network errors are KafkaErrors."""
        self._correlation_id = (self._correlation_id + 1) % _CORRELATION_COUNT
        try:
            if timeout_s != self._timeout_s:
                self._socket.settimeout(timeout_s)
                self._timeout_s = timeout_s
            data = template.frame(self._correlation_id, records)
            self._socket.sendall(data)
            self._traffic.requests += 1
            self._traffic.sent_bytes += len(data)
            return self._read_frame()
        except TimeoutError:
            reason = f"Produce to {self._name} had no answer in {timeout_s:g} s"
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, reason) from None
        except (OSError, ProtocolError) as error:
            reason = f"{self._name}: {why(error)}"
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, reason) from error

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _read_frame(self) -> memoryview:
        received = self._receive()
        while len(received) < _SIZE_BYTES:
            received += self._receive()
        end = _SIZE_BYTES + int.from_bytes(received[:_SIZE_BYTES], "big")
        while len(received) < end:
            received += self._receive()
        frame = memoryview(received)[_SIZE_BYTES:end]
        self._traffic.responses += 1
        self._traffic.received_bytes += len(received)
        correlation_id = int.from_bytes(frame[:_SIZE_BYTES], "big")
        if correlation_id != self._correlation_id or len(received) > end:
            raise ProtocolError(f"answer {correlation_id} instead of {self._correlation_id} alone")
        return frame

    def _receive(self) -> bytes:
        received = self._socket.recv(_READ_BYTES)
        if not received:
            raise ConnectionResetError("the connection was closed")
        return received
