"""The command shows topologies, and says what it needs to run one."""

import threading
from pathlib import Path

import pytest

from moldau.cli.streams import OPTIONS, clients, main, pairs, run_options, start_of, trigger
from moldau.cli.terminal.failure import CommandFailed
from moldau.client.offset_lookup import LATEST
from moldau.streams.run.manifest import Manifest
from moldau.streams.run.reset import StartPoint
from moldau.streams.run.standby import only_instance
from moldau.testing.broker import EmbeddedBroker
from unit.client.topics import create_topic

SERVER = ("--bootstrap-server", "localhost:1")
APP = """
from moldau.streams import StreamsBuilder
builder = StreamsBuilder()
builder.stream("lines").filter("value is not null").to("output")
topology = builder.build()
"""


@pytest.fixture
def app(tmp_path: Path) -> str:
    path = tmp_path / "app.py"
    path.write_text(APP)
    return str(path)


@pytest.mark.parametrize(
    ("form", "words"),
    [("text", "Sub-topology: 0"), ("mermaid", "flowchart"), ("svg", "<svg")],
)
def test_a_topology_is_shown(
    app: str, form: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", app, "--format", form]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say `moldau streams run APP.py`"),
        (["run", "nothing.py"], "there is no file nothing.py"),
        (["describe", "APP", "--format", "png"], "text, mermaid or svg"),
        (["run", "APP"], "bootstrap-server"),
        (["reset", "APP"], "bootstrap-server"),
        (["reset", "APP", "--to-latest", "--to-offset", "3", *SERVER], "to-latest"),
        (["reset", "APP", "--state-partitions", "0", *SERVER], "at least 1, not 0"),
    ],
)
def test_what_is_wrong_is_said(app: str, arguments: list[str], words: str) -> None:
    given = [app if each == "APP" else each for each in arguments]
    with pytest.raises(CommandFailed, match=words):
        main(given)


def test_an_application_is_reset_unless_it_runs(
    kafka: EmbeddedBroker, app: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_topic(kafka, "lines", 2)
    checkpoint = str(tmp_path / "checkpoint")
    command = ["reset", app, "--bootstrap-server", kafka.bootstrap_servers]
    command += ["--checkpoint", checkpoint]
    assert main([*command, "--dry-run", "--by-duration", "P1D"]) == 0
    told = "would begin lines-0 at 0\nwould begin lines-1 at 0\n"
    assert capsys.readouterr().out == told
    assert not Path(checkpoint).exists()
    assert main([*command, "--to-latest", "--state-partitions", "3"]) == 0
    assert capsys.readouterr().out.endswith("begin lines-1 at 0\nkeep state in 3 partitions\n")
    assert Manifest.read(checkpoint).state_partitions == 3
    told = r"app runs \(process .*\): stop it first"
    with (
        only_instance(checkpoint, threading.Event(), print),
        pytest.raises(CommandFailed, match=told),
    ):
        main(command)


def test_a_start_is_said_by_time_or_offset() -> None:
    assert start_of(OPTIONS.parse([])) == StartPoint()
    assert start_of(OPTIONS.parse(["--to-latest"])) == StartPoint(LATEST)
    assert start_of(OPTIONS.parse(["--to-offset", "7"])) == StartPoint(7)
    given = OPTIONS.parse(["--to-datetime", "1970-01-01T00:00:01+00:00"])
    assert start_of(given) == StartPoint(None, 1000)


def test_restarts_are_fewer_for_what_ends_by_itself() -> None:
    counts = [
        run_options(OPTIONS.parse(arguments)).restarts_max
        for arguments in ([], ["--available-now"], ["--available-now", "--max-restarts", "0"])
    ]
    assert counts == [10, 3, 0]
    assert run_options(OPTIONS.parse(["--restart-window-ms", "5"])).restart_window_ms == 5


def test_a_trigger_follows_from_the_options() -> None:
    assert trigger(OPTIONS.parse([])) == {}
    assert trigger(OPTIONS.parse(["--available-now"])) == {"availableNow": True}
    wanted = {"processingTime": "500 milliseconds"}
    assert trigger(OPTIONS.parse(["--interval-ms", "500"])) == wanted


def test_options_of_source_and_session_are_pairs() -> None:
    assert pairs(["a=1", "b=c=d"]) == {"a": "1", "b": "c=d"}
    with pytest.raises(CommandFailed, match="a: write NAME=VALUE"):
        pairs(["a"])


def test_settings_of_clients_stand_in_a_file_or_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "security.protocol=SSL\ncompression.type=zstd\nsasl.naem=anna\nkey.serializer=x\n"
    )
    arguments = ["--command-config", str(file), "--option", "kafka.compression.type=lz4"]
    given = OPTIONS.parse([*arguments, "--option", "maxOffsetsPerTrigger=9"])
    assert clients(given) == {
        "kafka.security.protocol": "SSL",
        "kafka.compression.type": "lz4",
        "maxOffsetsPerTrigger": "9",
    }
    assert "'sasl.naem' was supplied but isn't a known config" in capsys.readouterr().err
