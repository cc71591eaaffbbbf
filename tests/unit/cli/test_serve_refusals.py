"""What a broker does not start with, and how it says so."""

import signal
from pathlib import Path

import pytest

from moldau.cli import serve
from moldau.testing.wire import WireClient
from unit.cli.serving import served
from unit.testing.requests import batch, metadata, produce


@pytest.fixture(autouse=True)
def _logging_stays_with_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "start_log", lambda _: None)


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert serve.main(arguments) == 1
    message = capsys.readouterr().err.strip()
    assert "\n" not in message
    return message


def test_a_bad_setting_is_named_with_its_value_and_what_is_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = fails(capsys, "--override", "num.partitions=two")
    assert message == (
        "moldau serve: Invalid value two for configuration num.partitions: "
        "must be a whole number between -2147483648 and 2147483647"
    )


def test_an_override_without_a_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "must be key=value" in fails(capsys, "--override", "num.partitions")


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = tmp_path / "missing.properties"
    assert fails(capsys, str(missing)) == f"moldau serve: {missing}: No such file or directory"


def test_a_port_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        serve.main(["--metrics-port", "99999"])
    assert "--metrics-port: 99999 is not between 0 and 65535" in capsys.readouterr().err


def test_ports_of_several_brokers_are_refused_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        serve.main(["--ports", "9192,9292"])
    assert "--ports: only with --brokers" in capsys.readouterr().err


def test_a_host_that_is_not_known_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    listeners = ("--override", "listeners=PLAINTEXT://host.invalid:0")
    quiet = ("--data", str(tmp_path / "data"), "--log-level", "error")
    message = fails(capsys, *listeners, *quiet)
    assert message.startswith("moldau serve: cannot listen on host.invalid:0: ")


def test_a_port_or_a_directory_in_use_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with served("--port", "0", home=tmp_path) as running:
        port = running.bootstrap_servers.rpartition(":")[2]
        running.line("started")
        other = str(tmp_path / "other")
        message = fails(capsys, "--port", port, "--data", other, "--log-level", "error")
        assert message == (
            f"moldau serve: cannot listen on 127.0.0.1:{port}: Address already in use"
        )
        same = str(tmp_path / "moldau")
        assert same in fails(capsys, "--port", "0", "--data", same, "--log-level", "error")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{}", "no topic is listed"),
        (b"\xff", "not text"),
        (b'{"t": {"retention.ms": "soon"}}', "topic t: Invalid value soon"),
        (b'{"t": {"no.such": "1"}}', "topic t: Unknown topic config name: no.such"),
    ],
)
def test_settings_of_topics_that_cannot_be_are_refused_before_anything_is_opened(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: bytes, reason: str
) -> None:
    file, data = tmp_path / "topics.json", tmp_path / "data"
    file.write_bytes(text)
    message = fails(capsys, "--data", str(data), "--topic-configs", str(file))
    assert message.startswith(f"moldau serve: --topic-configs {file}: ")
    assert reason in message
    assert not data.exists()


def test_settings_of_topics_that_are_not_there_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = ("--data", str(tmp_path / "data"))
    assert "missing.json" in fails(capsys, *data, "--topic-configs", str(tmp_path / "missing.json"))
    monkeypatch.setattr("moldau.cli.znodes.session._CONNECT_MS", 50)
    message = fails(capsys, *data, "--topic-configs", "zookeeper://127.0.0.1:1/kafka")
    assert "Failed to connect to ZooKeeper at 127.0.0.1:1: connection refused" in message
    connect = ("--override", "zookeeper.connect=127.0.0.1:1")
    message = fails(capsys, *data, *connect, "--topic-configs", "zookeeper://127.0.0.1:1")
    assert "the settings of topics are in the ZooKeeper of zookeeper.connect" in message


def test_an_adopted_topic_has_the_settings_of_the_file(tmp_path: Path) -> None:
    with served("--port", "0", home=tmp_path) as running:
        with WireClient(running.bootstrap_servers) as client:
            client.ask(metadata("orders"))
            client.ask(produce("orders", batch(b"a")))
        assert running.end(signal.SIGTERM) == 0
    for file in (tmp_path / "moldau").glob("moldau*"):
        file.unlink()
    file = tmp_path / "topics.json"
    file.write_text('{"orders": {"retention.ms": "-1"}}')
    with served("--port", "0", "--topic-configs", str(file), home=tmp_path) as running:
        running.line("adopted 1 topics")
        running.line("1 topics have the settings that are listed")


def test_options_are_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        serve.main(["--overrid", "broker.id=1"])
    assert "unrecognized arguments: --overrid" in capsys.readouterr().err


def test_the_directory_of_a_cluster_is_not_that_of_a_broker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree.sqlite").touch()
    message = fails(capsys, "--data", str(tmp_path))
    assert message == (
        f"moldau serve: {tmp_path} has the data of a cluster: start it with --brokers"
    )
