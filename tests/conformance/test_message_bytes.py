"""Messages in every version: Java reads what we encode, and writes the same bytes."""

import inspect
from collections.abc import Iterator
from importlib import import_module

import pytest

from conformance.apache.lines import JavaProgram, from_base64
from conformance.apache.marks import needs_apache
from conformance.random_messages import RandomMessages
from moldau.protocol.apis import APIS
from moldau.protocol.codec import decode, encode
from moldau.protocol.declaration import facts_of
from moldau.protocol.headers import request_header_version, response_header_version

pytestmark = needs_apache("kafka-3.9", "clients-4", "json")

EXAMPLES_PER_VERSION = 6
STORED = (
    "consumer_group_records",
    "consumer_protocol",
    "offsets_topic",
    "transaction_topic",
)


def _stored_messages() -> Iterator[type]:
    for name in STORED:
        module = import_module(f"moldau.protocol.messages.{name}")
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__ and "__message__" in vars(cls):
                yield cls


WIRE = [cls for api in APIS for cls in (api.request, api.response)]
EVERY_MESSAGE = [*WIRE, *_stored_messages()]


@pytest.mark.parametrize("cls", EVERY_MESSAGE, ids=lambda cls: cls.__name__)
def test_java_reads_every_version_and_writes_the_same_bytes(
    messages_39: JavaProgram, messages_4: JavaProgram, cls: type
) -> None:
    source = RandomMessages(cls.__name__)
    for version in facts_of(cls).versions:
        java = messages_4 if is_newer_than_39(cls, version) else messages_39
        messages = [source.message(cls, version) for _ in range(EXAMPLES_PER_VERSION)]
        ours = [encode(message, version) for message in messages]
        answers = java.call("rewrite", messages=[[cls.__name__, version, data] for data in ours])
        for message, data, answer in zip(messages, ours, answers, strict=True):
            assert isinstance(answer, str), (version, message, answer)
            assert from_base64(answer) == data, (version, message)
            assert decode(cls, version, data) == (message, len(data))


def is_newer_than_39(cls: type, version: int) -> bool:
    """ConsumerGroupHeartbeat and -Describe got their version 1 after Kafka 3.9."""
    return facts_of(cls).api_key in (68, 69) and version > 0


def test_headers_have_the_versions_that_java_gives_them(messages_39: JavaProgram) -> None:
    theirs = {
        (key, version): (request, response)
        for key, _, version, request, response in messages_39.call("api_keys")
    }
    for api in APIS:
        for version in api.versions:
            if (api.key, version) in theirs:
                ours = (
                    request_header_version(api.key, version),
                    response_header_version(api.key, version),
                )
                assert ours == theirs[api.key, version], (api, version)
