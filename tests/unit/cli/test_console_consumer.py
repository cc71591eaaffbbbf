"""Print the records of topics."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.cli.console_consumer import OPTIONS, formatter_properties, is_pipe, settings
from moldau.cli.terminal.failure import CommandFailed
from moldau.testing.broker import EmbeddedBroker
from unit.cli.command import run

SOURCES = Path(moldau.__file__).parents[1]


def produce(bootstrap: str, topic: str, *lines: str) -> None:
    assert run("console-producer", bootstrap, "--topic", topic, stdin="\n".join(lines)).code == 0


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "moldau", "console-consumer", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        text=True,
    )


@pytest.mark.parametrize("group", [(), ("--group", "g")])
def test_a_topic_is_printed_from_its_beginning(bootstrap: str, group: tuple[str, ...]) -> None:
    produce(bootstrap, "a", "one", "two")
    options = ("--topic", "a", "--from-beginning", "--max-messages", "2")
    done = run("console-consumer", bootstrap, *options, *group)
    assert done == (0, "one\ntwo\n", "Processed a total of 2 messages\n")


def test_it_ends_when_nothing_comes_for_long(bootstrap: str) -> None:
    produce(bootstrap, "b", "one")
    done = run("console-consumer", bootstrap, "--topic", "b", "--timeout-ms", "10")
    assert (done.code, done.stdout) == (0, "")
    assert done.stderr.endswith("Processed a total of 0 messages\n")


def test_topics_by_pattern_with_times_and_offsets(bootstrap: str) -> None:
    run("topics", bootstrap, "--create", "--topic", "c1", "--config",
        "message.timestamp.type=LogAppendTime")  # fmt: skip
    produce(bootstrap, "c1", "one")
    options = ("--whitelist", "c.*", "--from-beginning", "--max-messages", "1")
    properties = ("--property", "print.timestamp=true", "--formatter-property", "print.offset=true")
    done = run("console-consumer", bootstrap, *options, *properties)
    assert done.stdout.startswith("LogAppendTime:")
    assert done.stdout.endswith("\tOffset:0\tone\n")


def test_one_partition_from_an_offset(bootstrap: str) -> None:
    produce(bootstrap, "d", "one", "two", "three")
    options = ("--topic", "d", "--partition", "0", "--offset", "1", "--max-messages", "2")
    assert run("console-consumer", bootstrap, *options).stdout == "two\nthree\n"


def test_a_record_that_cannot_be_printed_ends_it_or_is_passed_over(bootstrap: str) -> None:
    produce(bootstrap, "e", "1234", "odd", "5678")
    number = "org.apache.kafka.common.serialization.IntegerDeserializer"
    reading = ("--topic", "e", "--from-beginning", "--max-messages", "3")
    options = (*reading, "--value-deserializer", number)
    assert run("console-consumer", bootstrap, *options).code == 1
    done = run("console-consumer", bootstrap, *options, "--skip-message-on-error")
    assert (done.code, done.stdout) == (0, "825373492\n892745528\n")


def topics(broker: EmbeddedBroker) -> set[str]:
    return broker.look(lambda inside: set(inside.metadata.image.topics))


@pytest.mark.parametrize("group", [(), ("--group", "misled")])
def test_reading_creates_no_topic(
    broker: EmbeddedBroker, bootstrap: str, group: tuple[str, ...]
) -> None:
    done = run("console-consumer", bootstrap, "--topic", "typo", "--timeout-ms", "200", *group)
    assert "typo" not in topics(broker)
    assert done.stderr.endswith("Processed a total of 0 messages\n")


def test_a_partition_of_no_topic_is_an_error(broker: EmbeddedBroker, bootstrap: str) -> None:
    done = run("console-consumer", bootstrap, "--topic", "typo", "--partition", "0")
    assert done.code == 1
    assert "Error: there is no topic typo: create it first, or correct the name" in done.stderr
    assert "typo" not in topics(broker)


def test_a_topic_that_is_created_later_is_read(bootstrap: str) -> None:
    with start(bootstrap, "--topic", "later", "--max-messages", "1") as process:
        assert process.stderr is not None
        waiting = "WARN There is no topic later yet: waiting until somebody creates it.\n"
        assert process.stderr.readline() == waiting
        produce(bootstrap, "later", "one")
        output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "one\n")


def test_ctrl_c_tells_how_many_there_were(bootstrap: str) -> None:
    produce(bootstrap, "f", "one")
    with start(bootstrap, "--topic", "f", "--from-beginning") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "one\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "Processed a total of 1 messages\n"


def test_it_ends_when_nobody_reads_any_more(bootstrap: str) -> None:
    produce(bootstrap, "g", "one")
    with start(bootstrap, "--topic", "g", "--from-beginning") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "one\n"
        process.stdout.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == "Processed a total of 1 messages\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--topic", "a", "--include", "b"), "Exactly one of --include/--topic is required"),
        (("--include", "a", "--partition", "0"), "The topic is required when partition"),
        (("--topic", "a", "--offset", "0"), "The partition is required when offset"),
        (("--topic", "a", "--zookeeper", "z:2181"), "use --bootstrap-server localhost:9092"),
        (
            ("--topic", "a", "--partition", "0", "--offset", "soon"),
            "The provided offset value 'soon' is incorrect",
        ),
        (
            ("--topic", "a", "--partition", "0", "--offset", "0", "--from-beginning"),
            "cannot be specified together",
        ),
        (("--topic", "a", "--partition", "0", "--group", "g"), "cannot be specified together"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], reason: str) -> None:
    done = run("console-consumer", "--bootstrap-server", "127.0.0.1:1", *options)
    assert done.code == 1
    assert reason in done.stderr


def test_options_become_settings() -> None:
    where = ["--bootstrap-server", "b:1", "--topic", "t"]
    found = settings(
        OPTIONS.parse([*where, "--from-beginning", "--consumer-property", "group.id=g"])
    )
    assert (found["group.id"], found["auto.offset.reset"]) == ("g", "earliest")
    with pytest.raises(CommandFailed, match="Detected group ids: g, h"):
        settings(OPTIONS.parse([*where, "--group", "h", "--consumer-property", "group.id=g"]))
    with pytest.raises(CommandFailed, match=r"auto\.offset\.reset=latest"):
        settings(
            OPTIONS.parse(
                [*where, "--from-beginning", "--consumer-property", "auto.offset.reset=latest"]
            )
        )


def test_the_formatter_is_told_by_a_file_and_by_options(tmp_path: Path) -> None:
    file = tmp_path / "formatter.properties"
    file.write_text("print.key=true\nkey.separator=;\n")
    given = OPTIONS.parse(
        [f"--formatter-config={file}", "--property", "key.separator=:", "--key-deserializer", "K"]
    )
    assert formatter_properties(given) == {
        "print.key": "true",
        "key.separator": ":",
        "key.deserializer": "K",
    }


def test_a_pipe_is_known() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w") as stream:
        assert is_pipe(stream)
    with open(os.devnull, "w") as stream:
        assert not is_pipe(stream)
