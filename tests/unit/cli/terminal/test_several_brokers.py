"""What `moldau serve --brokers` asks for."""

import argparse
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from moldau.cli.serve import main
from moldau.cli.terminal.several_brokers import wish_of
from moldau.errors import KafkaError

NOTHING: dict[str, object] = {
    "config": None,
    "override": [],
    "data": None,
    "brokers": "2",
    "port": None,
    "ports": None,
    "host": None,
    "advertised_host": None,
    "tree_port": None,
    "topic_configs": None,
    "registry": False,
    "console": False,
}


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{**NOTHING, **given})


def test_without_anything_else_it_is_this_machine_from_port_9092_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = wish_of(options())
    assert (found.count, found.host, list(found.ports)) == (2, "localhost", [9093, 9094])
    assert found.shared_port == 9092
    assert found.data == tmp_path / "moldau"


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=3\nlog.retention.hours=1\n")
    found = wish_of(
        options(
            config=str(file),
            override=["num.partitions=4"],
            data=str(tmp_path),
            ports="5,7",
            host="0.0.0.0",
            advertised_host="example.org",
            tree_port=2181,
        )
    )
    assert found.texts == {"num.partitions": "4", "log.retention.hours": "1"}
    assert (found.host, found.ports, found.advertised_host) == ("", [5, 7], "example.org")
    assert (found.shared_port, found.tree_port) == (None, 2181)
    both = wish_of(options(data=str(tmp_path), ports="5,7", port=3))
    assert (both.ports, both.shared_port) == ([5, 7], 3)
    first = wish_of(options(data=str(tmp_path), port=3))
    assert (first.ports, first.shared_port) == ([4, 5], 3)
    assert wish_of(options(data=str(tmp_path), brokers="auto")).count >= 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"brokers": "many"}, "many is neither a number nor auto"),
        ({"ports": "a,b"}, "a,b is no list of ports"),
        ({"registry": True}, "--registry is for one broker: .* start `moldau registry` beside"),
        ({"console": True}, "--console is for one broker: .* start `moldau console` beside"),
        ({"topic_configs": "x"}, "--topic-configs is for one broker"),
        ({"override": ["num.partitions=none"]}, "num.partitions"),
        ({"override": ["log.dirs=/x"]}, "each broker has its own log.dirs"),
    ],
)
def test_what_cannot_be_is_told(given: dict[str, object], why: str, tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match=why):
        wish_of(options(**{"data": str(tmp_path), **given}))


def test_the_directory_of_a_broker_that_is_alone_is_not_made_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "moldau-store.sqlite").touch()
    with pytest.raises(KafkaError, match="has the data of a broker that is alone"):
        wish_of(options(data=str(tmp_path)))


@pytest.mark.parametrize("option", ["--port", "--ports", "--tree-port"])
def test_a_port_that_is_taken_is_told_before_anything_starts(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = main(["--brokers", "1", option, str(port), "--data", str(tmp_path / "d")])
    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_a_supervisor_does_without_what_only_brokers_need() -> None:
    program = (
        "import sys, moldau.cli.serve, moldau.cli.terminal.several_brokers\n"
        "parts = {name.split('.')[1] for name in sys.modules if name.startswith('moldau.')}\n"
        "print(sorted(parts & {'broker', 'log', 'replication', 'controller', 'records'}))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"
