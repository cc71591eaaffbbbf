"""What `moldau doctor` sees of the machine that it runs on: versions, limits and names."""

import importlib.metadata
import platform
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

import moldau
from moldau.client.admin.finding import Finding
from moldau.runtime.process import open_files_max

_CLIENTS = ("confluent-kafka", "kafka-python", "aiokafka", "pyspark", "pyarrow")
_OPEN_FILES_MIN = 1024
_RESOLVING_S_MAX = 1.0


def examine_machine(hosts: Iterable[str]) -> list[Finding]:
    """All findings about this machine, as that of a client of these hosts."""
    names = dict.fromkeys(hosts)
    return [*versions(), open_files(open_files_max()), *map(name_resolution, names)]


def versions() -> Iterator[Finding]:
    """What is installed here."""
    installed = [f"{name} {found}" for name in _CLIENTS if (found := _version(name))]
    python = f"Python {platform.python_version()}"
    yield Finding(True, ", ".join([f"moldau {moldau.__version__}", python, *installed]))
    if find_spec("moldau.records._kernel") is None:
        yield Finding(
            True,
            "moldau runs without compiled kernels, several times slower",
            "Install a C compiler, then: pip install --force-reinstall --no-cache-dir moldau",
        )


def open_files(limit: int) -> Finding:
    """Whether as many connections may be open as a busy client needs."""
    text = f"this shell allows {limit} open files"
    if limit >= _OPEN_FILES_MIN:
        return Finding(True, text)
    return Finding(False, text, "Each connection is one: ulimit -n 4096")


def name_resolution(host: str) -> Finding:
    """What a name stands for here."""
    start = time.monotonic()
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        advice = f"Look for it: getent hosts {host}; then mend DNS or /etc/hosts."
        return Finding(False, f"{host} cannot be resolved here: {error.strerror}", advice)
    addresses = dict.fromkeys(str(each[4][0]) for each in found)
    return resolved(host, list(addresses), time.monotonic() - start)


def resolved(host: str, addresses: Sequence[str], took_s: float) -> Finding:
    """The addresses of a name, and whether it took too long to find them."""
    text = f"{host} is {', '.join(addresses)}" if addresses != [host] else f"{host} is an address"
    if took_s <= _RESOLVING_S_MAX:
        return Finding(True, text)
    return Finding(
        False,
        f"{text}, but that took {took_s:.1f} s",
        "Each new connection waits for it: look at the name servers in /etc/resolv.conf.",
    )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
