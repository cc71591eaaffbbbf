"""Traces go with records, by the real OpenTelemetry, and nothing is missed without it."""

import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import get_current_span

from moldau.client import blocking, telemetry
from moldau.client.consumer.consumer import Consumer
from moldau.client.producer.producer import Producer
from moldau.client.record import Headers
from moldau.testing.broker import EmbeddedBroker

TRACER = TracerProvider().get_tracer("test")


@pytest.fixture
async def consumer(kafka: EmbeddedBroker) -> AsyncIterator[Consumer[bytes, bytes]]:
    async with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, allow_auto_create_topics=True
    ) as consumer:
        consumer.assign({("t", 0): 0})
        yield consumer


async def test_a_span_of_the_reader_belongs_to_the_trace_of_the_writer(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]
) -> None:
    async with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, header_hook=telemetry.carry
    ) as producer:
        with TRACER.start_as_current_span("write") as written:
            await producer.send_and_wait("t", b"v")
    record = await anext(consumer)
    with TRACER.start_as_current_span("read", context=telemetry.context_of(record)):
        found = get_current_span().get_span_context()
    assert found.trace_id == written.get_span_context().trace_id
    assert [name for name, _ in record.headers] == ["traceparent"]


async def test_without_a_trace_nothing_is_added(
    kafka: EmbeddedBroker, consumer: Consumer[bytes, bytes]
) -> None:
    async with Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, header_hook=telemetry.carry
    ) as producer:
        await (await producer.send("t", b"v", headers=[("mine", None)]))
    record = await anext(consumer)
    assert record.headers == (("mine", None),)
    assert not get_current_span(telemetry.context_of(record)).get_span_context().is_valid


def test_a_hook_may_be_any_function(kafka: EmbeddedBroker) -> None:
    def stamp(topic: str, headers: Headers) -> Headers:
        return [*headers, ("topic", topic.encode())]

    with blocking.Producer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, header_hook=stamp
    ) as producer:
        for _ in range(3):
            producer.send("t", b"v", headers=[("mine", b"1")]).result(10)
        producer.send_and_wait("t", b"v")
    headers = [record.headers for record in kafka.records("t")[0]]
    assert headers == [((b"mine", b"1"), (b"topic", b"t"))] * 3 + [((b"topic", b"t"),)]


def test_without_the_package_there_are_no_traces_and_no_errors() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
from moldau.client import telemetry
assert telemetry.carry("t", [("a", b"1")]) == [("a", b"1")]
assert telemetry.context_of(None) is None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
