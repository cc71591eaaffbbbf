"""A PostgreSQL server of the test's own: an ordinary user's process in a temporary directory."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

_DEADLINE_S = 60
_USER = "postgres"


def _binaries() -> Path:
    return sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]


@dataclass(slots=True)
class PostgresServer:
    """A server on a socket in its own directory, which can be killed and started again."""

    directory: Path
    settings: Mapping[str, str]
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """For its superuser, who needs no password."""
        port = self.settings.get("port", "5432")
        return f"postgresql://{_USER}@/postgres?host={self.directory}&port={port}"

    @property
    def data(self) -> Path:
        """Where its files are, `pg_hba.conf` among them."""
        return self.directory / "data"

    def start(self) -> None:
        """Returns when it answers."""
        command = [str(_binaries() / "postgres"), "-D", str(self.data), "-k", str(self.directory)]
        command += ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "timezone=UTC"]
        command += [part for each in self.settings.items() for part in ("-c", "=".join(each))]
        log = self.directory / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stderr=output,
                user=_user(),
                cwd=self.directory,
                # Of its own group, so that it can be killed with all its processes.
                start_new_session=True,
            )
        _wait_for(self.url, log)

    def stop(self) -> None:
        """End it at once, with its shared memory given back."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_DEADLINE_S)
        self.kill()

    def kill(self) -> None:
        """End it as a power loss would, but for the disk."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def postgres_server(**settings: str) -> Iterator[PostgresServer]:
    """A new one."""
    # pytest's directories are closed to the user that the server runs as if the tests are root's.
    directory = Path(tempfile.mkdtemp(prefix="moldau-postgres-"))
    if _user() is not None:
        shutil.chown(directory, _USER)
    server = PostgresServer(directory, settings)
    initialise = [str(_binaries() / "initdb"), "-D", str(server.data), "-U", _USER]
    try:
        subprocess.run(
            [*initialise, "-A", "trust", "-N"],
            check=True,
            capture_output=True,
            user=_user(),
            cwd=directory,
        )
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def running_postgres(**settings: str) -> Iterator[str]:
    """A server with settings of its own; yields its address."""
    with postgres_server(**settings) as server:
        yield server.url


def _user() -> str | None:
    return _USER if os.geteuid() == 0 else None


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
