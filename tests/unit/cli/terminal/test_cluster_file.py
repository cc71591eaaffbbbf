"""A small file names several clusters."""

from pathlib import Path

import pytest

from moldau.cli.terminal.cluster_file import read_clusters
from moldau.cli.terminal.failure import CommandFailed


def test_servers_and_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "production.properties").write_text(
        "bootstrap.servers=kafka:9093\nsecurity.protocol=SSL\n"
    )
    path = tmp_path / "clusters"
    path.write_text("# ours\nlocal: localhost:9092,[::1]:9093\n\nlive: production.properties\n")
    assert read_clusters(str(path)) == {
        "local": {"bootstrap.servers": "localhost:9092,[::1]:9093"},
        "live": {"bootstrap.servers": "kafka:9093", "security.protocol": "SSL"},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no cluster"),
        ("local", "line 1"),
        ("a: b:1\na: c:1", "line 2"),
        ("a: missing.properties", "missing.properties"),
    ],
)
def test_what_names_no_cluster_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "clusters"
    path.write_text(text)
    with pytest.raises(CommandFailed, match=said):
        read_clusters(str(path))


def test_settings_without_servers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text("client.id=x\n")
    path = tmp_path / "clusters"
    path.write_text("a: a.properties\n")
    with pytest.raises(CommandFailed, match=r"no bootstrap\.servers"):
        read_clusters(str(path))
    with pytest.raises(CommandFailed, match="nowhere"):
        read_clusters(str(tmp_path / "nowhere"))
