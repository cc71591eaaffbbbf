"""Registry, Connect and console as processes that log everything: no secret is written or shown.

Brokers and clients are searched in the same way by `known_logins.py`.
"""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.apache.broker import free_port
from conformance.known_logins import ADMIN_PASSWORD, Secured, by_password, secured
from conformance.our_broker import SOURCES, TESTS

__all__ = ["secured"]  # the broker of all

DEADLINE_S = 60
WRONG = "guessed-by-a-stranger"
SECRETS = {
    "registry": "opens-the-registry",
    "registry token": "token-of-the-registry",
    "worker": "opens-the-worker",
    "console": "opens-the-console",
    "database": "opens-the-database",
    "database in a file": "opens-it-from-a-file",
    "database in an address": "opens-it-by-address",
    "website": "opens-the-website",
    "Kafka user": "of-the-new-user",
}


@dataclass(slots=True)
class Process:
    """One that logs everything it has to say into a file."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str

    def ask(
        self, method: str, path: str, body: object = None, *, login: str = "", token: str = ""
    ) -> tuple[int, str]:
        """Status and text of an answer."""
        headers = {"Content-Type": "application/json"}
        if login or token:
            basic = base64.b64encode(login.encode()).decode()
            headers["Authorization"] = f"Bearer {token}" if token else f"Basic {basic}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def answers(self) -> bool:
        """Whether it has started and leads."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        try:
            return self.ask("GET", "/", login=f"anna:{WRONG}")[0] != 503
        except OSError:
            return False

    @property
    def written(self) -> str:
        """Its log, and what `ps` shows of it."""
        command = Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        return self.log.read_text() + command.decode()


def until(is_so: object, what: object = "") -> None:
    """Wait for something that a process does."""
    assert callable(is_so)
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)


@contextmanager
def running(folder: Path, name: str, *arguments: str, port: int) -> Iterator[Process]:
    """A command of ours, at level DEBUG."""
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "moldau", *arguments],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": f"{SOURCES}:{TESTS}",
                "MOLDAU_LOG_LEVEL": "debug",
                "HOME": str(folder),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        found = Process(process, log, f"http://127.0.0.1:{port}")
        until(found.answers, log.read_text)
        yield found
    finally:
        process.terminate()
        process.wait(DEADLINE_S)


def write(file: Path, lines: Mapping[str, object], sign: str = "=") -> str:
    file.write_text("".join(f"{name}{sign}{value}\n" for name, value in lines.items()))
    file.chmod(0o600)
    return str(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, secured: Secured) -> Path:
    made = tmp_path_factory.mktemp("secrets")
    write(made / "client", by_password(secured, "admin", ADMIN_PASSWORD))
    return made


@pytest.fixture(scope="module")
def registry(folder: Path) -> Iterator[Process]:
    logins = {"anna": SECRETS["registry"], "bearer ci": SECRETS["registry token"]}
    users, port = write(folder / "registry-users", logins, ": "), free_port()
    options = (f"--command-config={folder / 'client'}", f"--users={users}", f"--port={port}")
    with running(folder, "registry", "registry", *options, port=port) as process:
        yield process


@pytest.fixture(scope="module")
def worker(folder: Path, secured: Secured, registry: Process) -> Iterator[Process]:
    port = free_port()
    settings = by_password(secured, "admin", ADMIN_PASSWORD)
    clients = {
        f"{role}.{name}": value
        for role in ("producer", "consumer", "admin")
        for name, value in settings.items()
        if name != "bootstrap.servers"
    }
    properties = {
        **settings,
        **clients,
        "group.id": "workers",
        "listeners": f"http://127.0.0.1:{port}",
        "rest.users.file": write(folder / "worker-users", {"anna": SECRETS["worker"]}, ": "),
        "key.converter": "StringConverter",
        "value.converter": "io.confluent.connect.json.JsonSchemaConverter",
        "value.converter.schema.registry.url": registry.url,
        "value.converter.basic.auth.credentials.source": "USER_INFO",
        "value.converter.basic.auth.user.info": f"anna:{SECRETS['registry']}",
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
    }
    file = write(folder / "worker.properties", properties)
    with running(folder, "worker", "connect-distributed", file, port=port) as process:
        yield process


@pytest.fixture(scope="module")
def console(folder: Path, registry: Process, worker: Process) -> Iterator[Process]:
    users, port = (
        write(folder / "console-users", {"anna": f"{SECRETS['console']}, admin"}, ": "),
        free_port(),
    )
    options = (
        *(f"--command-config={folder / 'client'}", f"--users={users}", f"--port={port}"),
        *(f"--registry={registry.url}", f"--connect={worker.url}"),
    )
    # Both services have the same host: their logins cannot differ in one file.
    write(folder / ".netrc", {"machine": f"127.0.0.1 login anna password {SECRETS['worker']}"}, " ")
    with running(folder, "console", "console", *options, port=port) as process:
        yield process


def no_secrets_in(text: str) -> None:
    for secret in (*SECRETS.values(), ADMIN_PASSWORD, WRONG):
        encoded = base64.b64encode(f"anna:{secret}".encode()).decode()
        for form in (secret, encoded):
            assert form not in text, f"{form} is in {text[max(0, text.find(form) - 300) :][:600]}"


def test_a_registry_keeps_its_secrets(registry: Process) -> None:
    schema = {"schema": '"string"'}
    path = "/subjects/kept-value/versions"
    for login in (f"anna:{WRONG}", f"eve:{WRONG}"):
        status, text = registry.ask("POST", path, schema, login=login)
        assert status == 401
        no_secrets_in(text)
    assert registry.ask("GET", "/subjects", token=WRONG)[0] == 401
    until(lambda: registry.ask("POST", path, schema, login=f"anna:{SECRETS['registry']}")[0] == 200)
    assert registry.ask("GET", "/subjects", token=SECRETS["registry token"])[0] == 200
    assert "INFO" in registry.written
    no_secrets_in(registry.written)


REFUSED = {
    "connector.class": "PostgresConnector",
    "database.hostname": "127.0.0.1",
    "database.port": "1",  # where nothing listens
    "database.user": "shop",
    "database.password": SECRETS["database"],
    "database.dbname": "shop",
    "topic.prefix": "p",
}
FAILING = {
    "referred": {
        "connector.class": "JdbcSource",
        "connection.url": "postgresql://127.0.0.1:1/shop",
        "connection.user": "shop",
        "connection.password": "${file:FILE:password}",
        "mode": "bulk",
        "topic.prefix": "r-",
    },
    "addressed": {
        "connector.class": "JdbcSource",
        "connection.url": f"mariadb://shop:{SECRETS['database in an address']}@127.0.0.1:1/shop",
        "mode": "bulk",
        "topic.prefix": "m-",
    },
    "posted": {
        "connector.class": "HttpSource",
        "url": "http://127.0.0.1:1/",
        "auth.type": "BASIC",
        "connection.user": "anna",
        "connection.password": SECRETS["website"],
        "topic.name.pattern": "t",
        "max.retries": "0",
    },
}


def test_a_worker_keeps_its_secrets_and_those_of_failing_connectors(
    worker: Process, folder: Path
) -> None:
    login = f"anna:{SECRETS['worker']}"
    assert worker.ask("GET", "/connectors", login=f"anna:{WRONG}")[0] == 401
    until(lambda: worker.ask("GET", "/connectors", login=login)[0] == 200)
    status, text = worker.ask("PUT", "/connectors/refused/config", REFUSED, login=login)
    assert (status, "Connection refused" in text) == (400, True), text
    no_secrets_in(text)
    kept = write(folder / "kept", {"password": SECRETS["database in a file"]})

    def status_of(name: str) -> str:
        return worker.ask("GET", f"/connectors/{name}/status", login=login)[1]

    for name, config in FAILING.items():
        filled = {each: text.replace("FILE", kept) for each, text in config.items()}
        status, text = worker.ask("PUT", f"/connectors/{name}/config", filled, login=login)
        assert status == 201, text
        until(lambda name=name: '"trace"' in status_of(name), lambda name=name: status_of(name))
        no_secrets_in(status_of(name))
    no_secrets_in(worker.ask("GET", "/connectors/referred/config", login=login)[1])
    no_secrets_in(worker.ask("GET", "/metrics", login=login)[1])
    assert "INFO" in worker.written
    no_secrets_in(worker.written)


def test_a_console_keeps_its_secrets_and_masks_those_of_others(
    console: Process, worker: Process
) -> None:
    login, api = f"anna:{SECRETS['console']}", "/api/clusters/local"
    assert console.ask("GET", f"{api}/topics", login=f"anna:{WRONG}")[0] == 401
    user = {"user": "new", "mechanism": "SCRAM-SHA-256", "password": SECRETS["Kafka user"]}
    shown = [
        console.ask("GET", f"{api}/users", login=login),
        console.ask("GET", f"{api}/topics", login=login),
        console.ask("GET", f"{api}/connect", login=login),
        console.ask("PUT", f"{api}/users", user, login=login),
    ]
    for _, text in shown:
        no_secrets_in(text)
    assert [status for status, _ in shown] == [200, 200, 200, 200], shown
    assert "INFO" in console.written
    no_secrets_in(console.written)
