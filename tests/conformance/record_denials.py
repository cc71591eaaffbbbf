"""Writes tests/unit/broker/access/apache-3.9-denials.jsonl anew, from Apache Kafka 3.9.

    PYTHONPATH=src:tests bin/python -m conformance.record_denials

For every line of the table of rights: what a client without any right is answered, once for a
thing that exists and once for one that does not.
"""

import json
import socket
import struct
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance.apache.broker import ApacheBroker, apache_broker, free_port
from moldau.protocol.declaration import facts_of
from moldau.protocol.messages.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.init_producer_id import InitProducerIdRequest
from unit.broker.access.denials import RECORDED, told
from unit.broker.access.samples import MISSING, THERE, lines, sample
from unit.broker.world import frame_of, response_of

_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_TIMEOUT_S = 10


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, apache_broker(Path(directory)) as broker:
        broker.settings = {"broker.id": "0"}  # as ours has it
        broker.start()
        _make_things(broker)
        broker.stop()
        broker.settings = _guarded(broker)
        broker.start()
        rows = []
        for api, number in lines():
            for name in (THERE, MISSING):
                request, version = sample(api, number, name)
                answer = told(_ask(broker, request, version), name)
                rows.append({"api": api, "line": number, "name": name, "told": answer})
                print(rows[-1])
    RECORDED.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def _guarded(broker: ApacheBroker) -> dict[str, str]:
    """Brokers log in, and may do everything; who does not log in may do nothing."""
    prefix = "listener.name.sasl_plaintext"
    return {
        **broker.settings,
        "listeners": f"PLAINTEXT://{broker.bootstrap},SASL_PLAINTEXT://127.0.0.1:{free_port()}",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        f"{prefix}.plain.sasl.jaas.config": (
            f'{_MODULE} required username="b" password="b" user_b="b";'
        ),
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:b",
    }


def _make_things(broker: ApacheBroker) -> None:
    request, version = sample("CreateTopics", 0, THERE)
    request.validate_only = False
    _ask(broker, request, version)
    for key_type in (0, 1):
        found = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[THERE])
        _until(lambda found=found: _ask(broker, found, 4).coordinators[0].error_code == 0)
    commit, version = sample("OffsetCommit", 0, THERE)
    commit.generation_id_or_member_epoch, commit.member_id = -1, ""
    commit.group_instance_id = None
    _until(lambda: _ask(broker, commit, version).topics[0].partitions[0].error_code == 0)
    begin = InitProducerIdRequest(transactional_id=THERE, transaction_timeout_ms=60_000)
    _until(lambda: _ask(broker, begin, 4).error_code == 0)


def _until(is_so: Any) -> None:
    for _ in range(100):
        if is_so():
            return
        time.sleep(0.2)
    raise AssertionError("it did not happen")


def _ask(broker: ApacheBroker, request: Any, version: int) -> Any:
    """The answer, decoded; None if the connection is closed instead."""
    frame = bytes(frame_of(request, version))
    with socket.create_connection(("127.0.0.1", broker.port), _TIMEOUT_S) as connection:
        connection.settimeout(_TIMEOUT_S)
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        received = b""
        while len(received) < 4 or len(received) < 4 + int.from_bytes(received[:4], "big"):
            more = connection.recv(65_536)
            if not more:
                return None
            received += more
    api_key = facts_of(type(request)).api_key
    assert api_key is not None
    return response_of([received], api_key, version)


if __name__ == "__main__":
    main()
