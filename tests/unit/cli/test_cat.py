"""Read, write and list topics with kcat's options."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import moldau
from moldau.cli.cat import parse, writer
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.blocking.producer import Producer
from moldau.client.registry import Registry
from moldau.client.serdes.avro import AvroSerde
from moldau.errors import ErrorCode
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Fail
from unit.cli.command import Done, run
from unit.client.registry_server import registry_server

SOURCES = Path(moldau.__file__).parents[1]


@pytest.fixture
def servers(broker: EmbeddedBroker) -> str:
    return broker.bootstrap_servers


def cat(*arguments: str, stdin: str = "") -> Done:
    return run("cat", *arguments, stdin=stdin)


def test_lines_with_keys_are_written_and_read(servers: str) -> None:
    cat("-b", servers, "-t", "a", "-K:", "-Z", "-P", stdin="k1:v1\nk2:\n")
    done = cat("-C", "-b", servers, "-t", "a", "-e", "-f", r"%o %k=%s %S\n")
    end = "% Reached end of topic a [0] at offset 2: exiting\n"
    assert done == (0, "0 k1=v1 2\n1 k2= -1\n", end)
    done = cat("-C", "-b", servers, "-t", "a", "-q", "-e", "-Z", "-f", r"%k=%s\n")
    assert done == (0, "k1=v1\nk2=NULL\n", "")
    assert cat("-C", "-b", servers, "-t", "a", "-o", "-1", "-e", "-J").stdout.endswith(
        '"key":"k2","payload":null}\n'
    )
    assert cat("-C", "-b", servers, "-t", "a", "-p", "0", "-c", "1", "-K", "/").stdout == "k1/v1\n"


def test_a_group_that_reads_creates_no_topic(broker: EmbeddedBroker, servers: str) -> None:
    command = [sys.executable, "-m", "moldau", "cat", "-b", servers, "-G", "g", "typo"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "subscribed topics do not exist yet" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
    assert "typo" not in broker.look(lambda inside: set(inside.metadata.image.topics))


def test_what_is_not_there_or_lost_is_a_failure(broker: EmbeddedBroker, servers: str) -> None:
    done = cat("-C", "-b", servers, "-t", "nope", "-e")
    reason = "% ERROR: Topic nope error: Broker: Unknown topic or partition\n"
    assert (done.code, done.stderr) == (1, reason)
    end = broker.control("Produce", lambda _: Fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    try:
        done = cat("-P", "-b", servers, "-t", "a", stdin="x\ny\n")
    finally:
        end()
    assert done.code == 1
    assert done.stderr.startswith("% Delivery failed for 2 messages: ")


def test_a_file_is_written_with_key_and_headers(
    broker: EmbeddedBroker, servers: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("x;y;")
    options = ("-D;", "-k", "key", "-H", "a=1", "-z", "lz4", "-p", "0")
    cat("-P", "-b", servers, "-l", "-t", "b", *options, str(file))
    ((first, second),) = broker.wait_for_records("b", 2).values()
    assert (first.key, first.value, first.headers) == (b"key", b"x", ((b"a", b"1"),))
    assert second.value == b"y"
    assert "No such file" in cat("-P", "-b", servers, "-t", "b", "-l", "/nope").stderr


def test_files_are_one_record_each(broker: EmbeddedBroker, servers: str, tmp_path: Path) -> None:
    for name, text in (("one", "a\nb\n"), ("two", "c")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("one", "two")]
    assert cat("-P", "-b", servers, "-t", "f", "-p", "0", "-k", "k", *files).code == 0
    ((first, second),) = broker.wait_for_records("f", 2).values()
    assert (first.key, first.value, second.value) == (b"k", b"a\nb\n", b"c")
    assert "No such file" in cat("-P", "-b", servers, "-t", "f", "/nope").stderr


def test_separators_may_be_escaped(broker: EmbeddedBroker, servers: str) -> None:
    where = ("-b", servers, "-t", "g", "-K", r"\t", "-D", r"\x3b%")
    done = cat("-P", *where, "-T", "-c", "2", stdin="k\tv;%k2\tv2;%more")
    assert done == (0, "k\tvk2\tv2", "")
    assert cat("-C", *where, "-e", "-q", "-O").stdout == "k\tv;%k2\tv2;%"


def test_numbers_are_unpacked(servers: str) -> None:
    where = ("-b", servers, "-t", "h")
    cat("-P", *where, stdin="\0\0\0\1ab")
    read = ("-C", *where, "-e", "-q")
    assert cat(*read, "-s", "value=>is").stdout == "1ab\n"
    done = cat(*read, "-s", "i$")
    assert done.stderr == (
        "% ERROR: Failed to format message in h [0] at offset 0: "
        "expected value end-of-input, but 2 bytes remaining: terminating\n"
    )
    assert cat(*read, "-s", "i$", "-E").code == 0
    assert "-r URL of a schema registry is missing" in cat(*read, "-s", "avro").stderr
    assert "-s value=avro" in cat(*read, "-r", "http://registry").stderr


def test_values_of_a_registry_are_read(servers: str) -> None:
    with registry_server() as registry:
        serde = AvroSerde('"long"', registry=Registry(registry.url), subject="r-value")
        with Producer[bytes, bytes]({"bootstrap.servers": servers}) as producer:
            producer.send_and_wait("r", serde.serialize(7), key=b"k")
            producer.send_and_wait("r", b"plain")
        read = ("-C", "-b", servers, "-t", "r", "-e", "-q", "-s", "value=avro", "-r", registry.url)
        assert cat(*read, "-c", "1", "-f", r"%k %s\n").stdout == "k 7\n"
        assert '"key":"k","payload":7}' in cat(*read, "-c", "1", "-J").stdout
        done = cat(*read)
        assert (done.code, done.stdout) == (1, "7\n")
        assert "at offset 1: the value does not begin with the number of a schema" in done.stderr
        assert "at offset 1: the value" in cat(*read, "-J").stderr


def test_programs_are_told_more(servers: str) -> None:
    run("topics", "--bootstrap-server", servers, "--create", "--topic", "i",
        "--config", "message.timestamp.type=LogAppendTime")  # fmt: skip
    where = ("-b", servers, "-t", "i")
    cat("-P", *where, stdin="x\n")
    (record,) = map(json.loads, cat("-C", *where, "-e", "-q", "-J").stdout.splitlines())
    assert (record["broker"], record["tstype"]) == (0, "logappend")
    listed = json.loads(cat("-L", *where, "-J").stdout)
    assert listed["originating_broker"] == {"id": 0, "name": f"{servers}/0"}
    assert listed["query"] == {"topic": "i"}
    (topic,) = listed["topics"]
    assert topic["partitions"] == [
        {"partition": 0, "leader": 0, "replicas": [{"id": 0}], "isrs": [{"id": 0}]}
    ]
    found = json.loads(cat("-Q", "-b", servers, "-t", "i:0:1", "-J").stdout)
    assert found == {"i": {"topic": "i", "0": {"partition": 0, "offset": 0}}}


def test_servers_are_named_where_kcat_looks(
    servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kcat.conf"
    file.write_text(f"metadata.broker.list={servers}\n")
    monkeypatch.setenv("KCAT_CONFIG", str(file))
    assert "/0):" in cat("-L").stdout
    done = cat("-P", "-t", "j", stdin="x\n")
    assert done == (0, "", "")
    told = "% Auto-selecting Producer mode (use -P or -C to override)\n"
    assert cat("-t", "j", stdin="x\n") == (0, "", told)
    monkeypatch.delenv("KCAT_CONFIG")
    monkeypatch.setattr("moldau.cli.cat._DEFAULT_SERVERS", servers)
    assert cat("-C", "-t", "j", "-o", "-10", "-f", r"%k: %s\n", "-e", "-q").stdout == ": x\n" * 2


def test_a_group_shares_topics(servers: str) -> None:
    cat("-P", "-b", servers, "-t", "c", stdin="one\n")
    assert cat("-b", servers, "-c", "1", "-G", "g", "c").stdout == "one\n"


def test_topics_and_offsets_are_listed(servers: str) -> None:
    cat("-P", "-b", servers, "-t", "d", stdin="one\n")
    listed = cat("-L", "-b", servers, "-t", "d").stdout.splitlines()
    assert listed[0] == f"Metadata for d (from broker 0: {servers}/0):"
    assert listed[-1] == "    partition 0, leader 0, replicas: 0, isrs: 0"
    assert cat("-Q", "-b", servers, "-t", "d:0:1").stdout == "d [0] offset 0\n"
    assert "is expected" in cat("-Q", "-b", servers, "-t", "d").stderr


def test_what_is_missing_is_said(servers: str) -> None:
    assert cat("-h").stdout.startswith("usage: moldau cat")
    assert cat("-V").stdout.endswith("kcat 1.7.1\n")
    assert cat("-C", "-b", servers).stderr == "-t TOPIC is missing\n"
    with pytest.raises(CommandFailed, match="option -y not recognized"):
        parse(["-y"])
    with pytest.raises(CommandFailed, match="a group and its topics"):
        parse(["-G", "g"])
    assert callable(writer(parse(["-f", "%s"])))


def test_help_is_not_abbreviated() -> None:
    done = run("cat", "--hel")
    assert (done.code, done.stderr.partition("\n")[0]) == (1, "options are not abbreviated")
