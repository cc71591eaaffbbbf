"""Write lines of standard input to a topic."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.cli.console_producer import OPTIONS, settings
from moldau.cli.terminal.failure import CommandFailed
from moldau.errors import ErrorCode
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.cli.command import run


def values(broker: EmbeddedBroker, topic: str, count: int) -> list[bytes | None]:
    broker.wait_for_topic(topic)
    found = broker.wait_for_records(topic, count)
    return [record.value for records in found.values() for record in records]


def test_each_line_is_a_record(broker: EmbeddedBroker, bootstrap: str) -> None:
    done = run("console-producer", bootstrap, "--topic", "a", stdin=b"one\r\ntwo\n\n\xff")
    assert done == (0, "", "")
    assert values(broker, "a", 4) == [b"one", b"two", b"", b"\xff"]


def test_many_lines_arrive_in_order(broker: EmbeddedBroker, bootstrap: str) -> None:
    lines = [f"line {number}" + "x" * 500 for number in range(5_000)]
    options = ("--batch-size", "20000", "--compression-codec", "lz4")
    done = run("console-producer", bootstrap, "--topic", "b", *options, stdin="\n".join(lines))
    assert done.code == 0
    assert values(broker, "b", 5_000) == [line.encode() for line in lines]


def test_keys_and_headers_are_taken_from_the_line(broker: EmbeddedBroker, bootstrap: str) -> None:
    properties = ("--property", "parse.key=true", "--property", "parse.headers=true")
    run("console-producer", bootstrap, "--topic", "c", "--sync", *properties, stdin="h:1\tk\tv\n")
    ((record,),) = broker.wait_for_records("c", 1).values()
    assert (record.key, record.value, record.headers) == (b"k", b"v", ((b"h", b"1"),))


def test_a_partitioner_of_java_is_asked(broker: EmbeddedBroker, bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "turns", "--partitions", "2")
    name = "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner"
    options = ("--topic", "turns", "--producer-property", name)
    assert run("console-producer", bootstrap, *options, stdin="x\n" * 6) == (0, "", "")
    found = broker.wait_for_records("turns", 6)
    assert [len(records) for records in found.values()] == [3, 3]


def test_a_partitioner_that_is_not_here_is_one_line(bootstrap: str) -> None:
    options = ("--topic", "turns", "--producer-property", "partitioner.class=a.B")
    done = run("console-producer", bootstrap, *options, stdin="x\n")
    reason = "Invalid value a.B for configuration partitioner.class: Class a.B could not be found."
    assert done == (1, "", f"{reason}\n")


@pytest.mark.parametrize("options", [(), ("--sync",)])
def test_a_line_that_is_lost_is_told(
    broker: EmbeddedBroker, bootstrap: str, options: tuple[str, ...]
) -> None:
    run("topics", bootstrap, "--create", "--topic", "d", "--if-not-exists")
    end = broker.control("Produce", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    try:
        done = run("console-producer", bootstrap, "--topic", "d", *options, stdin="x\ny\n")
    finally:
        end()
    assert done.code == 1
    assert done.stderr.count("ERROR Error when sending message to topic d: ") == 1


def test_options_become_settings(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("linger.ms=7\nacks=1\n")
    found = settings(
        OPTIONS.parse(
            [
                *("--broker-list", "b:1", "--batch-size", "9", "--compression-codec"),
                *("--timeout", "8", "--producer.config", str(file)),
                *("--producer-property", "client.id=me"),
            ]
        )
    )
    assert found["bootstrap.servers"] == "b:1"
    assert found["compression.type"] == "gzip"
    assert (found["linger.ms"], found["batch.size"], found["client.id"]) == ("8", "9", "me")
    assert (found["acks"], found["enable.idempotence"]) == ("1", "false")


def test_what_must_be_said_is_asked_for() -> None:
    with pytest.raises(CommandFailed, match="bootstrap-server"):
        settings(OPTIONS.parse([]))
    assert run("console-producer").stderr == 'Missing required argument "[topic]"\n'
    done = run("console-producer", "--topic", "t", "--line-reader", "com.example.Reader")
    assert "no line reader com.example.Reader" in done.stderr


def test_ctrl_c_ends_it_after_what_was_typed_is_stored(
    broker: EmbeddedBroker, bootstrap: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "moldau", "console-producer", bootstrap, "--topic", "typed"],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(moldau.__file__).parents[1])},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"one\ntwo\n")
        process.stdin.flush()
        assert values(broker, "typed", 2) == [b"one", b"two"]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
