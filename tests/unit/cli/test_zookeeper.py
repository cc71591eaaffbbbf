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


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is started, instead of starting it."""
    found: list[str] = []
    monkeypatch.setattr(zookeeper, "zookeeper_jars", lambda: [Path("/a.jar")])
    monkeypatch.setattr(zookeeper, "log_to_stderr", lambda _: None)
    monkeypatch.setattr(zookeeper, "serve_own_tree", lambda made: found.append(str(made.directory)))
    monkeypatch.setattr("os.execvp", lambda name, _: found.append(name))
    return found


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "zookeeper.properties"
    path.write_text("clientPort=1\ndataDir=/data\n")
    return path


def test_without_java_it_is_our_own_tree_and_says_so(
    config: Path,
    started: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(config.parent))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    zookeeper.main([str(config)])
    assert started == ["/data"]
    told = capsys.readouterr().err
    assert told == "there is no Java: Moldau's own tree takes ZooKeeper's place\n"


def test_with_java_it_is_apaches_unless_ours_is_asked_for(
    config: Path,
    started: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    java = config.parent / "bin" / "java"
    java.parent.mkdir()
    java.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(config.parent))
    zookeeper.main([str(config)])
    assert started == [str(java)]
    assert capsys.readouterr().err == "Apache ZooKeeper is started with Java\n"
    zookeeper.main([str(config), "--own"])
    assert started == [str(java), "/data"]
