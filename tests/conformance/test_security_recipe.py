"""The recipes of docs/security.md, run as the page has them; only addresses are others."""

import asyncio
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker, free_port, zookeeper
from conformance.apache.marks import needs_apache
from conformance.our_broker import OurBroker
from conformance.our_cluster import until
from conformance.secured_cluster import PASSWORDS, Keys, allowed_partitions, make_users
from moldau import Admin, Consumer, Producer
from moldau.client.admin.topics import NewTopic
from moldau.model import TopicPartition
from moldau.security.acls import Acl, Operation, ResourceType

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
BROKERS = (1, 2, 3)
SCRIPT = """
set -eu
trap 'kill $broker; wait' EXIT
{recipe}
"""
WRAPPER = '#!/bin/sh\nexec "{python}" -m moldau {command} "$@"\n'
COMMANDS = {
    "moldau": "",
    "kafka-configs.sh": "configs",
    "kafka-topics.sh": "topics",
    "kafka-acls.sh": "acls",
}


def recipes(title: str) -> list[str]:
    """The blocks of a section."""
    section = PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^( *)```sh\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _, block in found]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which the commands of a recipe are those of this clone."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, command in COMMANDS.items():
        (folder / name).write_text(WRAPPER.format(python=sys.executable, command=command))
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def run(script: str, place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    place.mkdir(exist_ok=True)
    return subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_broker_of_the_recipe_has_ten_lines() -> None:
    (recipe,) = recipes("One secure broker")
    assert len(recipe.split("END")[1].strip("'\n").splitlines()) == 10


def test_the_recipe_runs_as_it_stands(tmp_path: Path, environment: dict[str, str]) -> None:
    (recipe,) = recipes("One secure broker")
    lines = recipe.replace("9093", str(free_port()))
    lines = lines.replace(".properties &", ".properties & broker=$!")
    done = run(SCRIPT.format(recipe=lines), tmp_path / "here", environment)
    assert done.returncode == 0, done.stderr
    assert "Created topic orders." in done.stdout
    assert "Added user alice." in done.stdout
    assert "lets this client in by SCRAM-SHA-512" in done.stdout
    assert "FAIL" not in done.stdout
    assert not re.search("WARN|ERROR|Traceback", done.stderr), done.stderr
    assert "admin-secret" not in done.stdout + done.stderr


@pytest.fixture
def zookeeper_port(tmp_path: Path) -> Iterator[int]:
    with zookeeper(tmp_path / "zookeeper") as port:
        yield port


def admin_file(place: Path) -> None:
    """The file that is written in the first recipe, and used in all."""
    (recipe,) = recipes("One secure broker")
    found = re.search(r"cat > admin.properties <<'END'\n(.*?)END\n", recipe, re.DOTALL)
    assert found is not None
    (place / "admin.properties").write_text(found[1])


@needs_apache("kafka-3.9")
def test_the_recipe_for_a_cluster_runs_as_it_stands(
    tmp_path: Path, environment: dict[str, str], zookeeper_port: int
) -> None:
    """Each broker on an address of its own of this machine; a certificate names no other."""
    once, each, then = recipes("A cluster")
    others = {"zk.example:2181": f"127.0.0.1:{zookeeper_port}", "9093": str(free_port())}
    others |= {f"kafka-{number}.example": f"127.0.0.{number}" for number in BROKERS}

    def here(text: str) -> str:
        for written, other in others.items():
            text = text.replace(written, other)
        return text

    place = tmp_path / "here"
    made = run(here(once), place, environment)
    assert made.returncode == 0, made.stderr
    with ExitStack() as stack:
        logs = [
            stack.enter_context(serving(here(of_machine(each, number)), number, place, environment))
            for number in BROKERS
        ]
        until(lambda: all("started" in log.read_text() for log in logs), "all brokers serve")
        admin_file(place)
        done = run(f"set -e\n{here(then)}", place, environment)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Created topic orders." in done.stdout
        assert "Completed updating config for user alice." in done.stdout
        assert "lets this client in by SCRAM-SHA-512" in done.stdout
        assert "FAIL" not in done.stdout
        options = {
            "bootstrap.servers": f"127.0.0.3:{others['9093']}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "alice",
            "sasl.password": "alice-secret",
            "ssl.truststore.location": str(place / "keys" / "ca.pem"),
        }
        until(
            lambda: asyncio.run(allowed_partitions(options, "orders", 3)) == 3,
            "Alice writes to every broker",
        )
        told = "".join(log.read_text() for log in logs)
        assert "zookeeper.set.acl" in told, "the page says that they warn of it"
        assert "admin-secret" not in told + done.stdout + done.stderr


def of_machine(recipe: str, number: int) -> str:
    """What the recipe says of the first machine, for another one; all of them are this one."""
    own = recipe.replace("broker.id=1", f"broker.id={number}")
    own = own.replace("kafka-1.", f"kafka-{number}.").replace("data", f"data{number}")
    return own.replace("server.properties", f"server{number}.properties")


@contextmanager
def serving(recipe: str, number: int, place: Path, environment: dict[str, str]) -> Iterator[Path]:
    """A broker of the recipe, and what it logs."""
    files, serve = recipe.rsplit("moldau serve", 1)
    assert run(files, place, environment).returncode == 0
    path = place / f"log{number}"
    with path.open("w") as log:
        command = ["moldau", "serve", *serve.replace("&", "").split()]
        started = subprocess.Popen(
            command, cwd=place, env=environment, stderr=log, executable=which(environment)
        )
    try:
        yield path
    finally:
        started.terminate()
        started.wait()


def which(environment: dict[str, str]) -> str:
    """The command, where this environment has it."""
    return f"{environment['PATH'].partition(':')[0]}/moldau"


@needs_apache("kafka-3.9")
def test_the_recipe_for_moving_runs_as_it_stands(
    tmp_path: Path, environment: dict[str, str], zookeeper_port: int
) -> None:
    keys = Keys(tmp_path)
    apache = ApacheBroker(tmp_path / "kafka", zookeeper_port, {})
    apache.directory.mkdir()
    described = OurBroker(apache.directory, port=apache.port)
    apache.settings = keys.of_broker(described)
    make_users(f"127.0.0.1:{zookeeper_port}")
    place = tmp_path / "here"
    (recipe,) = recipes("Moving a secured cluster over")
    with ExitStack() as stack:
        stack.callback(apache.kill)
        apache.start()
        secured = f"127.0.0.1:{keys.port_of(described)}"
        anna, eve = (keys.client(secured, user) for user in ("anna", "eve"))
        asyncio.run(set_up(keys.client(secured, "broker")))
        asyncio.run(write(anna, b"before"))
        apache.stop()  # what the first line of the recipe does to all there are
        place.mkdir()
        login = keys.client(secured, "broker")
        (place / "admin.properties").write_text(
            "".join(f"{name}={value}\n" for name, value in login.items())
        )
        stop, lines = recipe.split("\n", 1)
        assert stop.endswith("/kafka-server-stop.sh")
        lines = lines.replace("/opt/kafka/config", str(apache.directory))
        lines = lines.replace("kafka-1.example:9093", secured)
        lines = lines.replace(".properties &", ".properties & broker=$!")
        serving = f"{lines}\ntouch whole; while [ ! -e done ]; do sleep 0.1; done"
        with (tmp_path / "log").open("w") as log:
            script = ["/bin/sh", "-c", SCRIPT.format(recipe=serving)]
            moved = subprocess.Popen(script, cwd=place, env=environment, stdout=log, stderr=log)
        stack.callback(moved.kill)
        try:
            until((place / "whole").exists, "nothing is under-replicated")
            asyncio.run(write(anna, b"after"))
            assert asyncio.run(allowed_partitions(eve, "orders", 1)) == 0
            assert asyncio.run(read(anna)) == [b"before", b"after"]
        finally:
            (place / "done").touch()
            moved.wait(60)
        shown = re.search(r"^\s*Topic: orders", (tmp_path / "log").read_text(), re.MULTILINE)
        assert shown is None, "nothing was under-replicated"
        apache.start()
        assert asyncio.run(read(anna)) == [b"before", b"after"]
        assert asyncio.run(allowed_partitions(eve, "orders", 1)) == 0
        told = (tmp_path / "log").read_text()
        assert not any(password in told for password in PASSWORDS.values())


async def set_up(admin_login: dict[str, str]) -> None:
    rules = [
        Acl(
            resource_type=ResourceType.TOPIC,
            resource_name="orders",
            principal="User:anna",
            operation=operation,
        )
        for operation in (Operation.WRITE, Operation.READ)
    ]
    async with Admin(admin_login) as admin:
        (await admin.create_topics([NewTopic("orders", 1, 1)])).check()
        (await admin.create_acls(rules)).check()


async def write(login: dict[str, str], value: bytes) -> None:
    async with Producer[bytes, bytes](login, enable_idempotence=False) as producer:
        await producer.send_and_wait("orders", value)


async def read(login: dict[str, str]) -> list[bytes | None]:
    options = {**login, "group.id": "", "auto.offset.reset": "earliest"}
    async with Consumer[bytes, bytes](options) as reader:
        reader.assign([TopicPartition("orders", 0)])
        return [(await anext(reader)).value for _ in range(2)]
