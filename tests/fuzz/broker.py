"""Sends valid, mutated and random requests of every API to a broker until the count is reached.

bin/fuzz [count] [seed]

The broker runs in this process. A request that makes it fail, which takes longer than a
second, or after which a well-behaved client is not served, ends the run with its bytes; so
does a round over all APIs after which the process has grown by more than it may.
"""

import argparse
import logging
import time
from collections.abc import Iterator
from itertools import chain, count
from random import Random
from typing import Any

from conformance.random_messages import RandomMessages
from moldau.broker.routes import ROUTES
from moldau.protocol.apis import Api
from moldau.protocol.codec import encode
from moldau.protocol.headers import RequestHeader, encode_request_header
from moldau.protocol.schema import fields_of
from moldau.runtime.process import resident_bytes
from moldau.testing.broker import EmbeddedBroker, running_broker
from moldau.testing.wire import Disconnected, WireClient
from unit.protocol.mutations import flipped, overwritten, spliced
from unit.testing.requests import batch, metadata, produce

PER_EXAMPLE = 3
SLOW_S = 1.0
GROWTH_MAX_BYTES = 100 * 2**20
# The controller's own requests would rearrange the cluster, as they may: it trusts them.
TRUSTED = ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown")
# They wait for as long as they are told to.
WAITING = ("Fetch", "JoinGroup", "SyncGroup")
NAMES = ("witness", "group", "0", "retention.ms", "__consumer_offsets", "range", "consumer")
NUMBERS = (-1, 0, 1, 2, 3, 100)


class Failures(logging.Handler):
    """Collects what the broker logs as its own fault."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def main() -> None:
    purpose = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="bin/fuzz", description=purpose)
    parser.add_argument("count", type=int, nargs="?", default=100_000, help="how many requests")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="what the first is drawn from")
    options = parser.parse_args()
    wanted, first_seed = options.count, options.seed
    failures = Failures()
    logging.getLogger().addHandler(failures)
    with running_broker() as kafka:
        witness(kafka)
        done, resident = 0, 0
        for seed in count(first_seed):
            for api, version in served():
                for frame in frames(api, version, Random(f"{seed} {api.name} {version}")):
                    done += 1
                    try_frame(kafka, api, frame, failures)
            witness(kafka)
            # The first round loads every handler and makes what the others find.
            resident = resident or resident_bytes()
            growth = resident_bytes() - resident
            assert growth < GROWTH_MAX_BYTES, f"seed {seed}: grown by {growth} bytes"
            if done >= wanted:
                print(f"{done} requests, last seed {seed}")
                return


def served() -> Iterator[tuple[Api, int]]:
    for route in ROUTES:
        if route.name not in TRUSTED:
            for version in route.versions:
                yield route.api, version


def frames(api: Api, version: int, draw: Random) -> Iterator[bytes]:
    header = encode_request_header(RequestHeader(api.key, version, 1, "fuzz"))
    message = RandomMessages(str(draw.random())).message(api.request, version)
    make_familiar(message, version, draw)
    body = encode(message, version)
    yield header + body
    for mutated in chain(
        flipped(header, draw, PER_EXAMPLE), overwritten(header, draw, PER_EXAMPLE)
    ):
        if mutated[:2] == header[:2]:  # or it may be one of those that are trusted
            yield mutated + body
    for mutated in chain(
        flipped(body, draw, PER_EXAMPLE),
        overwritten(body, draw, PER_EXAMPLE),
        spliced(body, draw, PER_EXAMPLE),
    ):
        yield header + mutated


def make_familiar(message: Any, version: int, draw: Random) -> None:
    """Put in names and small numbers that mean something to the broker."""
    for field in fields_of(type(message)):
        if not field.is_in(version):
            continue
        value = getattr(message, field.name)
        if field.struct is not None:
            for inner in value if isinstance(value, list) else [value]:
                if inner is not None:
                    make_familiar(inner, version, draw)
        elif isinstance(value, str) and draw.random() < 0.6:
            setattr(message, field.name, draw.choice(NAMES))
        elif type(value) is int and draw.random() < 0.5:
            setattr(message, field.name, draw.choice(NUMBERS))
        elif isinstance(value, bytes) and field.name == "records":
            setattr(message, field.name, batch(b"fuzz"))


def try_frame(kafka: EmbeddedBroker, api: Api, frame: bytes, failures: Failures) -> None:
    began_s = time.monotonic()
    with WireClient(kafka.bootstrap_servers, timeout_s=SLOW_S) as client:
        client.send_frame(frame)
        try:
            client.receive_frame()
        except Disconnected:
            pass
        except TimeoutError:
            assert api.name in WAITING or is_unanswered(api), report(api, frame, "no answer")
    assert not failures.lines, report(api, frame, "\n".join(failures.lines))
    assert time.monotonic() - began_s < 2 * SLOW_S, report(api, frame, "slow")


def is_unanswered(api: Api) -> bool:
    """A produce request may ask for no answer, or for a timeout of days."""
    return api.name == "Produce"


def report(api: Api, frame: bytes, what: str) -> str:
    return f"{api.name}: {what}\n{frame.hex()}"


def witness(kafka: EmbeddedBroker) -> None:
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("witness"))
        response = client.ask(produce("witness", batch(b"here")))
        assert response.responses[0].partition_responses[0].error_code == 0


if __name__ == "__main__":
    main()
