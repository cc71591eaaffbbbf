"""Disks that fail under a running broker."""

import errno
import os
from pathlib import Path

import pytest

from moldau.broker.broker import Broker
from moldau.broker.storage.maintenance import EveryDirectoryOffline
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.produce import ProduceRequest
from moldau.testing.broker import BrokerStopped, EmbeddedBroker, running_broker
from moldau.testing.wire import Disconnected, WireClient
from unit.testing.requests import batch, fetch, metadata, produce


def code_of(client: WireClient, request: ProduceRequest) -> int:
    code: int = client.ask(request).responses[0].partition_responses[0].error_code
    return code


def test_a_record_that_could_not_be_synced_is_not_acknowledged_and_the_broker_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kafka = EmbeddedBroker(tmp_path, {"log.flush.interval.messages": "1"})
    kafka.start()
    with WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))
        assert code_of(client, produce("orders", batch(b"synced"))) == ErrorCode.NONE

        def failing_fsync(_descriptor: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fsync", failing_fsync)
        code = code_of(client, produce("orders", batch(b"not synced")))
        assert code == ErrorCode.KAFKA_STORAGE_ERROR
        with pytest.raises(Disconnected):
            client.receive_frame()
    with pytest.raises(BrokerStopped) as stopped:
        kafka.stop()
    cause = stopped.value.__cause__
    assert isinstance(cause, ExceptionGroup)
    assert cause.subgroup(EveryDirectoryOffline) is not None


def test_the_other_directories_are_served_on(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "two")]
    settings = {"log.dirs": ",".join(map(str, paths)), "num.partitions": "2"}
    with running_broker(settings) as kafka, WireClient(kafka.bootstrap_servers) as client:
        client.ask(metadata("orders"))

        def fail_the_second(broker: Broker) -> dict[int, bool]:
            broker.logs.directories[1].volume.fail(OSError(errno.EIO, "the cable is out"))
            logs = [broker.logs.get(TopicPartition("orders", number)) for number in range(2)]
            return {
                number: log is not None and log.folder.volume.is_online
                for number, log in enumerate(logs)
            }

        is_online = kafka.look(fail_the_second)
        assert sorted(is_online.values()) == [False, True]
        for partition, expected in is_online.items():
            code = code_of(client, produce("orders", batch(b"a"), partition=partition))
            assert code == (ErrorCode.NONE if expected else ErrorCode.KAFKA_STORAGE_ERROR)
            read = client.ask(fetch("orders", partition=partition), 12)
            code = read.responses[0].partitions[0].error_code
            assert code == (ErrorCode.NONE if expected else ErrorCode.KAFKA_STORAGE_ERROR)
