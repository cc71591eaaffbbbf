"""Records are written: one by hand."""

import asyncio
import base64
import binascii

from moldau.client.producer.producer import Producer
from moldau.client.registry import RegistryError
from moldau.console.access import Role
from moldau.console.api.messages import MESSAGES
from moldau.console.endpoints import ApiCall, ApiEndpoint
from moldau.web.errors import WebError

_WRITE_MS = 10_000
_REQUEST_MS = 5000


def producer_for(call: ApiCall) -> Producer[bytes, bytes]:
    """A producer that does not wait for long."""
    return Producer(
        {
            "client.id": "moldau-console",
            **call.cluster.settings,
            "delivery.timeout.ms": _WRITE_MS,
            "request.timeout.ms": _REQUEST_MS,
        }
    )


async def require_topic(call: ApiCall, topic: str) -> None:
    """404 if there is no such topic: nothing is created by writing to it."""
    admin = await call.admin()
    (await admin.describe_topics(topic)).check()


async def produce(call: ApiCall) -> object:
    """Write one record."""
    sent = await call.body()
    partition = partition_of(sent)
    headers = headers_of(sent)
    key, value = [await _part(call, sent, name) for name in ("key", "value")]
    topic = call.path("topic")
    await require_topic(call, topic)
    async with producer_for(call) as to:
        place = await to.send_and_wait(topic, value, key=key, partition=partition, headers=headers)
    return {"partition": place.partition, "offset": str(place.offset)}


async def _part(call: ApiCall, sent: dict[str, object], name: str) -> bytes | None:
    """A key or a value: text, bytes, or JSON that becomes a value of a registered schema."""
    schema = sent.get(f"{name}_schema")
    if schema is None or sent.get(name) is None:
        return bytes_of(sent, name)
    values, text = call.console.registered, sent[name]
    if values is None:
        raise WebError(400, f"{name}_schema: the console has no registry; see --registry")
    if not isinstance(schema, int | str) or isinstance(schema, bool) or not isinstance(text, str):
        raise WebError(400, f"{name}_schema: a number or a subject, and {name}: its JSON as a text")
    try:
        # A registry is asked by a plain function, which would hold up everybody.
        return await asyncio.to_thread(values.data, schema, text)
    except (RegistryError, ValueError, ImportError) as error:
        raise WebError(400, f"{name}: {error}") from error


def partition_of(sent: dict[str, object]) -> int | None:
    """The partition that is named, if one is."""
    partition = sent.get("partition")
    if partition is None:
        return None
    if not isinstance(partition, int) or isinstance(partition, bool) or partition < 0:
        raise WebError(400, "partition: a whole number")
    return partition


def headers_of(sent: dict[str, object]) -> list[tuple[str, bytes | None]]:
    """Headers: texts by name, or a list of objects as exports have them."""
    given = sent.get("headers") or {}
    if isinstance(given, dict):
        return [(str(name), str(value).encode()) for name, value in given.items()]
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise WebError(400, "headers: texts by name, or a list of name and value")
    return [(str(each.get("name", "")), bytes_of(each, "value")) for each in given]


def bytes_of(sent: dict[str, object], name: str) -> bytes | None:
    """A text as bytes; bytes that are no text are sent as `key_base64` or `value_base64`."""
    coded = sent.get(f"{name}_base64")
    if coded is not None:
        try:
            return base64.b64decode(str(coded), validate=True)
        except (binascii.Error, ValueError):
            raise WebError(400, f"{name}_base64: that is not base64") from None
    found = sent.get(name)
    if found is not None and not isinstance(found, str):
        raise WebError(400, f"{name}: a text, or null")
    try:
        return None if found is None else found.encode()
    except UnicodeEncodeError:
        raise WebError(400, f"{name}: half a surrogate pair is no text") from None


ENDPOINTS = (
    ApiEndpoint(
        *("POST", MESSAGES, Role.OPERATOR, "Write a record", produce),
        body={
            "key": "a text, or null; or key_base64",
            "value": "a text; null is a tombstone; or value_base64",
            "key_schema": "a schema's number, or a subject, whose JSON the key is",
            "value_schema": "the same for the value",
            "headers": "texts by name, or a list of name and value",
            "partition": "a number; chosen by the key if left out",
        },
        is_masked=True,
    ),
)
