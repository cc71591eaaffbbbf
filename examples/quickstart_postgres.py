"""A PostgreSQL server of the quickstart's own: in a temporary directory, without a network port."""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

USER = "postgres"
_START_S = 30
_MISSING = """PostgreSQL's server is needed, and is missing:
   apt-get install -y postgresql        (macOS: brew install postgresql)"""


def programs() -> Path | None:
    """Where the server's programs are: Debian's packages do not put them on the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def why_not() -> str | None:
    """What is missing, and how to get it."""
    if programs() is None:
        return _MISSING
    if _server_user() is not None and USER not in {each.pw_name for each in pwd.getpwall()}:
        return (
            f"PostgreSQL's server refuses to be root's: run this as another user, or add {USER!r}"
        )
    return None


@contextmanager
def database(directory: Path) -> Iterator[dict[str, str]]:
    """A server whose changes can be captured, while the block lasts; yields how to connect."""
    directory.mkdir()
    user = _server_user()
    if user is not None:
        shutil.chown(directory, user)
    data, here = directory / "data", programs()
    assert here is not None, "the caller has looked"
    initialise = [str(here / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "-N"]
    subprocess.run(initialise, check=True, capture_output=True, user=user, cwd=directory)
    command = [
        str(here / "postgres"),
        "-D",
        str(data),
        "-k",
        str(directory),
        "-c",
        "listen_addresses=",
    ]
    command += ["-c", "wal_level=logical", "-c", "fsync=off"]
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen(command, stderr=log, user=user, cwd=directory)
    place = {"host": str(directory), "user": USER, "dbname": "postgres"}
    try:
        _wait_for(place, server, directory / "log")
        yield place
    finally:
        server.terminate()
        server.wait()


def session(place: dict[str, str]) -> "psycopg.Connection[tuple[object, ...]]":
    """A connection whose statements are each a transaction."""
    return psycopg.connect(make_conninfo(**place), autocommit=True)


def _server_user() -> str | None:
    """The server refuses to be root's; its packages bring a user for it."""
    return USER if os.geteuid() == 0 else None


def _wait_for(place: dict[str, str], server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            session(place).close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"PostgreSQL does not start:\n{log.read_text()}") from None
            time.sleep(0.05)
        else:
            return
