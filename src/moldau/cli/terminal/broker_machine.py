"""What `moldau doctor FILE` sees of a broker's settings and the machine that it is to run on."""

import datetime as dt
import os
import shutil
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

from moldau.cli.serve import refuse_unsupported
from moldau.cli.terminal.protection import validity
from moldau.cli.terminal.surroundings import name_resolution
from moldau.client.admin.cluster_checks import FREE_SHARE_MIN
from moldau.client.admin.finding import Finding
from moldau.config.broker.startup import Startup, read_startup
from moldau.config.listener_settings import ListenerSettings
from moldau.config.listeners import ListenerConfig
from moldau.config.properties import decode_properties
from moldau.errors import KafkaError
from moldau.runtime.process import open_files_max
from moldau.security.certificates import read_certificate
from moldau.security.listener_tls import OVER_TLS, make_tls, source_of

_OPEN_FILES_MIN = 4096
_FILES_PER_PARTITION = 3
_CONNECT_S = 3.0
_GIB = 1 << 30


def examine_file(path: str) -> list[Finding]:
    """All findings for a broker with this file; what blocks its start comes first and alone."""
    try:
        startup = read_startup(decode_properties(Path(path).read_bytes()))
        refuse_unsupported(startup)
    except OSError as error:
        return [Finding(False, f"{path}: {error.strerror}", "moldau init writes a file.")]
    except KafkaError as error:
        return [Finding(False, f"{path}: a broker does not start with it: {error}", _SETTINGS)]
    findings = [Finding(True, f"{path} is a broker's file that can be started")]
    findings += [
        Finding(True, f"{path}: a broker starts, but {warning}") for warning in startup.warnings
    ]
    for directory in startup.config.log_dirs:
        findings += log_directory(directory)
    partitions = sum(map(partition_count, startup.config.log_dirs))
    findings.append(open_files(open_files_max(), partitions))
    for listener in startup.listeners.bound:
        findings.append(port(listener))
        findings += certificate(startup, listener)
    for advertised in startup.listeners.advertised or ():
        if advertised.host:
            findings.append(name_resolution(advertised.host))
    return findings + list(zookeeper(startup.config.zookeeper.zookeeper_connect or ""))


_SETTINGS = "docs/configuration.md has all settings, docs/migration-brokers.md what blocks a start."


def log_directory(path: str) -> Iterator[Finding]:
    """Whether a directory can be written, and how much room there is."""
    there = Path(path)
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK | os.X_OK):
        yield Finding(
            False,
            f"{there} cannot be written by this user",
            f"sudo chown {_user()} {there}, or run the broker as its owner.",
        )
        return
    usage = shutil.disk_usage(there)
    share = usage.free / usage.total
    text = f"{path}: {usage.free / _GIB:,.1f} GiB free, {share:.0%}"
    advice = "A full disk takes the directory offline: put log.dirs on a larger one."
    yield Finding(share >= FREE_SHARE_MIN, text, "" if share >= FREE_SHARE_MIN else advice)


def partition_count(directory: str) -> int:
    """How many logs of partitions a directory has."""
    try:
        with os.scandir(directory) as entries:
            return sum(each.name.rpartition("-")[2].isdigit() and each.is_dir() for each in entries)
    except OSError:
        return 0


def open_files(limit: int, partitions: int) -> Finding:
    """Whether partitions and connections find room in the limit."""
    needed = max(_OPEN_FILES_MIN, 2 * _FILES_PER_PARTITION * partitions)
    text = f"this shell allows {limit} open files; {partitions} partitions are here"
    if limit >= needed:
        return Finding(True, text)
    return Finding(
        False,
        f"{text}, which want {needed} with their clients",
        "In this shell: ulimit -n 100000. In a unit of systemd: LimitNOFILE=100000",
    )


def port(listener: ListenerConfig) -> Finding:
    """Whether a listener's port is free; an own broker that runs has it, too."""
    try:
        found = socket.getaddrinfo(
            listener.host or None, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        return Finding(
            False,
            f"{listener} cannot be listened on: {error.strerror}",
            f"If that is not the broker itself: ss -ltnp 'sport = :{listener.port}' shows who.",
        )
    return Finding(True, f"{listener} is free")


def certificate(startup: Startup, listener: ListenerConfig) -> Iterator[Finding]:
    """Whether keys and trust of a listener with TLS can be read, and the certificate is valid."""
    if listener.protocol not in OVER_TLS:
        return
    settings = ListenerSettings(startup.texts, listener.name)
    try:
        tls = make_tls(source_of(settings, listener.protocol))
    except (KafkaError, OSError, ssl.SSLError) as error:
        yield Finding(False, f"{listener}: {error}", "moldau certificates make makes one.")
        return
    facts = read_certificate(tls.store.own_certificate)
    whose = f"the certificate of {listener}, of {facts.owner},"
    yield validity(whose, facts, dt.datetime.now(dt.UTC))


def zookeeper(connect: str) -> Iterator[Finding]:
    """Whether the servers of `zookeeper.connect` can be reached."""
    for server in filter(None, connect.partition("/")[0].split(",")):
        host, _, number = server.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(number)), _CONNECT_S).close()
        except (OSError, ValueError) as error:
            yield Finding(
                False,
                f"ZooKeeper at {server} cannot be reached: {error}",
                f"Is it up? zookeeper-shell.sh {server} ls /",
            )
        else:
            yield Finding(True, f"ZooKeeper at {server} can be reached")


def _user() -> str:
    return os.environ.get("USER") or str(os.getuid())
