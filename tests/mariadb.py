"""A MariaDB server of the test's own: an ordinary user's process in a temporary directory."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pymysql
from pymysql.connections import Connection

from conformance.apache.broker import free_port

_DEADLINE_S = 60
_USER = "mysql"
_SETTINGS = {
    "log-bin": "binlog",
    "server-id": "7",
    "binlog-format": "ROW",
    "binlog-row-metadata": "FULL",
    "innodb-flush-log-at-trx-commit": "2",  # written, so a killed process loses nothing
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "16M",
    "performance-schema": "OFF",
    "default-time-zone": "+00:00",
    "character-set-server": "utf8mb4",
}


@dataclass(slots=True)
class MariaDb:
    """A server that can be killed and started again."""

    directory: Path
    port: int
    settings: Mapping[str, str]
    program: Sequence[str] = ("mariadbd", "--no-defaults")
    _process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def is_mariadb(self) -> bool:
        """Or else it is MySQL."""
        return "mariadbd" in self.program

    def connect(self, database: str | None = None) -> "Connection[pymysql.cursors.Cursor]":
        """As its superuser; each statement is a transaction."""
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user="root", database=database, autocommit=True
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert self._process is None
        command = [*self.program, f"--datadir={self.directory / 'data'}"]
        command += [f"--socket={self.directory / 'socket'}", f"--port={self.port}"]
        command += [f"--pid-file={self.directory / 'pid'}", "--bind-address=127.0.0.1"]
        command += [f"--{name}={text}" for name, text in self.settings.items()]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=server_user(), cwd=self.directory
            )
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            try:
                self.connect().close()
            except pymysql.OperationalError:
                log_text = (self.directory / "log").read_text()
                assert self._process.poll() is None, log_text
                assert time.monotonic() < deadline, log_text
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def running_mariadb(**settings: str) -> Iterator[MariaDb]:
    """A server with a log of rows, and settings of its own: underscores stand for hyphens."""
    # pytest's directories are closed to the user that the server runs as if the tests are root's.
    directory = Path(tempfile.mkdtemp(prefix="moldau-mariadb-"))
    user = server_user()
    if user is not None:
        shutil.chown(directory, user)
    try:
        initialise = ["mariadb-install-db", "--no-defaults", f"--datadir={directory / 'data'}"]
        initialise += ["--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(initialise, check=True, capture_output=True, user=user, cwd=directory)
        named = {name.replace("_", "-"): text for name, text in settings.items()}
        server = MariaDb(directory, free_port(), {**_SETTINGS, **named})
        try:
            server.start()
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def server_user() -> str | None:
    """Servers refuse to run as root."""
    return _USER if os.geteuid() == 0 else None
