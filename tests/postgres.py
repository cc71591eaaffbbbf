"""A PostgreSQL server of the test's own: an ordinary user's process in a temporary directory."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

_DEADLINE_S = 60
_USER = "postgres"


def _binaries() -> Path:
    return sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]


@contextmanager
def running_postgres(**settings: str) -> Iterator[str]:
    """A server on a socket in its own directory, with settings of its own; yields its address."""
    # pytest's directories are closed to the user that the server runs as if the tests are root's.
    directory = Path(tempfile.mkdtemp(prefix="moldau-postgres-"))
    user = _USER if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(directory, user)
    try:
        data = directory / "data"
        initialise = [
            str(_binaries() / "initdb"),
            "-D",
            str(data),
            "-U",
            _USER,
            "-A",
            "trust",
            "-N",
        ]
        subprocess.run(initialise, check=True, capture_output=True, user=user, cwd=directory)
        command = [str(_binaries() / "postgres"), "-D", str(data), "-k", str(directory)]
        command += ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "timezone=UTC"]
        command += [part for each in settings.items() for part in ("-c", "=".join(each))]
        with (directory / "log").open("wb") as log:
            process = subprocess.Popen(command, stderr=log, user=user, cwd=directory)
        try:
            port = settings.get("port", "5432")
            url = f"postgresql://{_USER}@/postgres?host={directory}&port={port}"
            _wait_for(url, directory / "log")
            yield url
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        else:
            return


def parts_of(url: str) -> tuple[str, str]:
    """The directory of its socket, which stands for a host, and the database."""
    parts = urlsplit(url)
    return parse_qs(parts.query)["host"][0], parts.path.removeprefix("/")
