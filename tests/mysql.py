"""A MySQL server of the test's own, from a jar that has it for tests of others."""

import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.apache.broker import free_port
from conformance.apache.jars import jar_paths, read_lock
from mariadb import MariaDb, server_user

JAR = "mysql-8"
_ARCHIVE = "mysql-Linux-amd64.tar.gz"
_SETTINGS = {
    "log-bin": "binlog",
    "server-id": "8",
    "binlog-row-metadata": "FULL",
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "innodb-flush-log-at-trx-commit": "2",  # written, so a killed process loses nothing
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "16M",
    "performance-schema": "OFF",
    "mysqlx": "OFF",
    "default-time-zone": "+00:00",
    "character-set-server": "utf8mb4",
}


def needs_mysql() -> pytest.MarkDecorator:
    """Maven as long as the jar is missing from the cache; its libraries come with MariaDB's."""
    is_there = all(jar.path.exists() for jar in read_lock()[JAR])
    return pytest.mark.needs("mariadbd", *(() if is_there else ("mvn",)))


@contextmanager
def running_mysql(**settings: str) -> Iterator[MariaDb]:
    """A server with a log of rows and ids of transactions; underscores stand for hyphens."""
    # The cache may be closed to the user that the server runs as if the tests are root's.
    directory = Path(tempfile.mkdtemp(prefix="moldau-mysql-"))
    user = server_user()
    try:
        _unpack(directory)
        if user is not None:
            shutil.chown(directory, user)
        program = [str(directory / "bin" / "mysqld"), "--no-defaults", f"--basedir={directory}"]
        program += [f"--lc-messages-dir={directory / 'share'}"]
        _check(program)
        named = {name.replace("_", "-"): text for name, text in settings.items()}
        given = {**_SETTINGS, **named}
        initialise = [*program, "--initialize-insecure", f"--datadir={directory / 'data'}"]
        initialise += [f"--innodb-log-file-size={given['innodb-log-file-size']}"]
        subprocess.run(initialise, check=True, capture_output=True, user=user, cwd=directory)
        server = MariaDb(directory, free_port(), given, program)
        try:
            server.start()
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _unpack(directory: Path) -> None:
    (jar,) = jar_paths(JAR)
    with (
        zipfile.ZipFile(jar) as opened,
        opened.open(_ARCHIVE) as packed,
        tarfile.open(fileobj=packed, mode="r|gz") as archive,
    ):
        archive.extractall(directory, filter="data")


def _check(program: list[str]) -> None:
    """The server is for x86-64, and needs libraries of the system."""
    tried = subprocess.run([*program, "--version"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return
    why = f"MySQL's server does not run here: {tried.stderr.strip()}"
    if os.environ.get("CI") == "true":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)
