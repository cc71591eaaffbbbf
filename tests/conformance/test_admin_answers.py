"""The same questions of an administrator to Apache's broker and to ours: the same codes."""

import time
from collections.abc import Iterator
from pathlib import Path

from conformance.admin_questions import questions
from conformance.apache.broker import apache_broker
from conformance.apache.marks import needs_apache
from moldau.errors import ErrorCode
from moldau.protocol.messages.describe_cluster import DescribeClusterRequest
from moldau.testing.broker import running_broker
from moldau.testing.wire import WireClient

pytestmark = needs_apache("kafka-3.9")

# Where we answer another code, and why.
DIFFERENT = {
    "create: no such broker": (
        [ErrorCode.INVALID_REPLICA_ASSIGNMENT, ErrorCode.NONE],
        "it creates a topic that nobody can lead, and lets the request time out",
    ),
    "change: no such operation": (
        [ErrorCode.INVALID_REQUEST],
        "it has no answer for that, but an unknown server error",
    ),
    "elect: no such election": (
        [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST],
        "likewise",
    ),
}


def test_every_question_gets_the_same_codes(tmp_path: Path) -> None:
    with apache_broker(tmp_path) as apache:
        apache.start()
        _wait_for_controller(apache.bootstrap)
        theirs = _answers(apache.bootstrap)
    with running_broker({"broker.id": "1", "auto.create.topics.enable": "false"}) as broker:
        ours = _answers(broker.bootstrap_servers)
    expected = {**theirs, **{name: codes for name, (codes, _) in DIFFERENT.items()}}
    assert {name: codes for name, codes in ours.items() if codes != expected[name]} == {}
    assert all(theirs[name] != codes for name, (codes, _) in DIFFERENT.items())


def _answers(bootstrap: str) -> dict[str, list[int]]:
    with WireClient(bootstrap, timeout_s=20) as client:
        return {name: list(_codes(client.ask(request))) for name, request in questions()}


def _codes(message: object) -> Iterator[int]:
    """Every error code in a message, in its order."""
    for name in getattr(message, "__slots__", ()):
        value = getattr(message, name)
        if name.endswith("error_code"):
            yield value
        elif isinstance(value, list):
            for element in value:
                yield from _codes(element)


def _wait_for_controller(bootstrap: str) -> None:
    """A broker that has just started serves requests before it knows itself."""
    request = DescribeClusterRequest(include_cluster_authorized_operations=False)
    deadline = time.monotonic() + 30
    with WireClient(bootstrap) as client:
        while not client.ask(request).brokers:
            assert time.monotonic() < deadline, "Apache has no controller"
