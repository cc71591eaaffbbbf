"""The command that becomes a ZooKeeper server."""

from pathlib import Path

import pytest

from moldau.cli import zookeeper
from moldau.cli.terminal.failure import CommandFailed


def test_a_missing_file_is_told_before_anything_is_fetched() -> None:
    with pytest.raises(CommandFailed, match="there is no file nowhere"):
        zookeeper.main(["nowhere"])


def test_java_gets_the_jars_the_options_and_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx64M -Xms64M")
    monkeypatch.setenv("KAFKA_OPTS", "-Da=b")
    monkeypatch.setenv("JAVA_HOME", "/java")
    command = zookeeper.command_line("z.properties", [Path("/a.jar"), Path("/b.jar")])
    assert command[:3] == ["/java/bin/java", "-Xmx64M", "-Xms64M"]
    assert "-Da=b" in command
    assert command[-4:-2] == ["-cp", "/a.jar:/b.jar"]
    assert command[-1] == "z.properties"


def test_without_java_there_is_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "zookeeper.properties"
    config.write_text("clientPort=1\n")
    monkeypatch.setattr(zookeeper, "zookeeper_jars", lambda: [Path("/a.jar")])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(CommandFailed, match="there is no java"):
        zookeeper.main([str(config)])
