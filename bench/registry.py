"""A schema registry with very many schemas: how long its start takes, what it holds in memory.

bin/bench registry [schemas]

Schemas are records of ten fields, ten versions to a subject, written to the topic as another
registry would have left them. Then `moldau registry` is started on it: the time counts from
launching the process to its first answer, processor time and the highest resident memory are
those of that process. After that, some are looked up by id and one is registered.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.brokers import Contestant, moldau
from bench.measure import end, print_table

from conformance.apache.broker import free_port
from moldau.client.producer.producer import Producer
from moldau.registry.records import SchemaRecord, StoredSchema, encode
from moldau.registry.topic import prepare_topic

SCHEMAS = 100_000
VERSIONS = 10
LOOK_UPS = 1000
START_MAX_S, MEMORY_MAX_MB = 10.0, 300.0
TOPIC = "_schemas"
_FIELDS = 10
_DEADLINE_S = 120.0


def text_of(number: int) -> str:
    """A record of ten fields, different for every number."""
    kinds = ("int", "long", "string", "double", "boolean")
    fields = [
        {"name": f"field_{number % 997}_{at}", "type": ["null", kinds[at % 5]], "default": None}
        for at in range(_FIELDS)
    ]
    schema = {"type": "record", "name": f"Record{number}", "namespace": "shop", "fields": fields}
    return json.dumps(schema, separators=(",", ":"))


async def write(bootstrap: str, count: int) -> int:
    """Fill the topic; returns the bytes of keys and values."""
    client: dict[str, object] = {"bootstrap.servers": bootstrap}
    await prepare_topic(client, TOPIC, 1)
    size = 0
    async with Producer[bytes, bytes]({**client, "linger.ms": "20"}) as producer:
        for number in range(count):
            subject, version = f"topic-{number // VERSIONS}-value", number % VERSIONS + 1
            schema = StoredSchema(subject, version, number + 1, text_of(number))
            key, value = encode(SchemaRecord(subject, version, schema))
            size += len(key) + len(value or b"")
            await producer.send(TOPIC, value, key=key, partition=0)
        await producer.flush()
    return size


@contextmanager
def registry(bootstrap: str) -> Iterator[tuple[Contestant, str]]:
    """A registry that has given its first answer."""
    port = free_port()
    command = [sys.executable, "-m", "moldau", "registry", "--port", str(port)]
    began = time.monotonic()
    process = subprocess.Popen([*command, "--bootstrap-server", bootstrap, "--log-level=warning"])
    try:
        url = f"http://localhost:{port}"
        while not _answers(url):
            if process.poll() is not None or time.monotonic() - began > _DEADLINE_S:
                raise SystemExit("the registry did not start")
            time.sleep(0.02)
        yield Contestant("registry", port, process.pid, time.monotonic() - began), url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/schemas/ids/1", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def look_up(url: str, count: int) -> float:
    """Seconds for one of many requests, one after the other."""
    began = time.monotonic()
    for number in range(LOOK_UPS):
        with urllib.request.urlopen(f"{url}/schemas/ids/{number % count + 1}") as answer:
            answer.read()
    return (time.monotonic() - began) / LOOK_UPS


def register(url: str, number: int) -> float:
    """Seconds until one more schema is registered, for a subject that has ten."""
    body = json.dumps({"schema": text_of(number)}).encode()
    headers = {"Content-Type": "application/json"}
    path = f"{url}/subjects/new/versions"
    began = time.monotonic()
    with urllib.request.urlopen(urllib.request.Request(path, body, headers)) as answer:
        found = json.load(answer)["id"]
    if found != number + 1:
        raise SystemExit(f"id {found} instead of {number + 1}")
    return time.monotonic() - began


def peak_mb(pid: int) -> float:
    """The highest resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Measure, print and compare with the aims."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SCHEMAS
    with tempfile.TemporaryDirectory() as folder, moldau(Path(folder), {}) as broker:
        size = asyncio.run(write(broker.bootstrap, count))
        with registry(broker.bootstrap) as (started, url):
            cpu_s, now_mb = started.cpu_s(), peak_mb(started.pid)
            asked_s = look_up(url, count)
            registered_s = register(url, count)
    rows = [
        ["start", f"{started.start_s:.1f} s"],
        ["processor time of it", f"{cpu_s:.1f} s"],
        ["highest memory", f"{now_mb:.0f} MB"],
        ["a schema by its id", f"{asked_s * 1e3:.2f} ms"],
        ["the first registration", f"{registered_s * 1e3:.0f} ms"],
    ]
    print_table(f"{count:,} schemas, {size / 2**20:.0f} MB in the topic", ["", "registry"], rows)
    misses = []
    if started.start_s > START_MAX_S:
        misses.append(f"start within {START_MAX_S:.0f} s")
    if now_mb > MEMORY_MAX_MB:
        misses.append(f"at most {MEMORY_MAX_MB:.0f} MB")
    end(misses)


if __name__ == "__main__":
    main()
