"""The two brokers of a comparison: Apache Kafka 3.9 as it ships, and Moldau, side by side."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.fresh_memory import touch_free_memory

from conformance.apache.broker import ApacheBroker, free_port, zookeeper
from conformance.apache.jvm import AS_SHIPPED
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import (
    RequestHeader,
    decode_response_header,
    encode_request_header,
)
from moldau.protocol.messages.delete_topics import DeleteTopicsRequest
from moldau.protocol.messages.metadata import MetadataRequest, MetadataResponse

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_START_S = 60
# Deleted topics go at once, so that a long run needs little room.
SETTINGS = {"auto.create.topics.enable": "true", "log.segment.delete.delay.ms": "1000"}
_METADATA, _DELETE_TOPICS = 3, 20


@dataclass(slots=True)
class Contestant:
    """A running broker."""

    name: str
    port: int
    pid: int
    start_s: float
    """From launching the process to its first answer to Metadata."""

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cpu_s(self) -> float:
        """Processor time that the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    def memory_mb(self) -> float:
        """Resident memory of the process."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def delete_topic(self, topic: str) -> None:
        """Make room."""
        header = RequestHeader(_DELETE_TOPICS, 3, 1, "bench")
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=10_000)
        _ask(self.port, encode_request_header(header) + encode(request, 3))


@contextmanager
def contestants(
    directory: Path, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Contestant, Contestant]]:
    """Apache and Moldau, both running, one after the other started."""
    touch_free_memory()
    used = {**SETTINGS, **(settings or {})}
    with ExitStack() as stack:
        zookeeper_port = stack.enter_context(zookeeper(directory / "zookeeper"))
        apache = ApacheBroker(directory / "apache", zookeeper_port, used, AS_SHIPPED)
        apache.directory.mkdir()
        stack.callback(apache.kill)
        began = time.monotonic()
        apache.start()
        until_metadata(apache.port)
        started_s = time.monotonic() - began
        first = Contestant("Apache", apache.port, apache.pid, started_s)
        yield first, stack.enter_context(moldau(directory / "moldau", used))


@contextmanager
def moldau(
    directory: Path, settings: Mapping[str, str], *, clone: Path | None = None
) -> Iterator[Contestant]:
    """Moldau as a process of its own, from this clone or another; its data stays."""
    port = free_port()
    python = sys.executable if clone is None else str(clone / ".venv/bin/python")
    overrides = [f"--override={name}={value}" for name, value in settings.items()]
    command = [
        *(python, "-m", "moldau", "serve", "--data", str(directory)),
        *("--port", str(port), "--log-level", "warning"),
        *overrides,
    ]
    began = time.monotonic()
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(command, env=environment if clone else None)
    try:
        until_metadata(port)
        yield Contestant("Moldau", port, process.pid, time.monotonic() - began)
    finally:
        process.terminate()
        process.wait(30)


def until_metadata(port: int, patience_s: float = _START_S) -> None:
    """Wait until a broker answers that it knows itself."""
    header = RequestHeader(_METADATA, 1, 1, "bench")
    request = encode_request_header(header) + encode(MetadataRequest(topics=[]), 1)
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            answer = _ask(port, request)
        except OSError:
            time.sleep(0.005)
            continue
        _, position = decode_response_header(answer, _METADATA, 1)
        response, _ = decode(MetadataResponse, 1, answer, position)
        if response.brokers:
            return
        time.sleep(0.005)
    raise TimeoutError(f"no broker answered on port {port}")


def _ask(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(len(request).to_bytes(4, "big") + request)
        stream = connection.makefile("rb")
        size = int.from_bytes(stream.read(4), "big")
        return stream.read(size)
