"""The command shows topologies, and says what it needs to run one."""

from pathlib import Path

import pytest

from moldau.cli.streams import OPTIONS, clients, main, pairs, trigger
from moldau.cli.terminal.failure import CommandFailed

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
    ],
)
def test_what_is_wrong_is_said(app: str, arguments: list[str], words: str) -> None:
    given = [app if each == "APP" else each for each in arguments]
    with pytest.raises(CommandFailed, match=words):
        main(given)


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
