"""Start a ZooKeeper server, with the settings of a zookeeper.properties file."""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from moldau.cli.java.zookeeper_jars import zookeeper_jars
from moldau.cli.terminal.daemon import leave_behind, without_script_options
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.servers import mark

_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_HEAP = "-Xmx512M"


def main(arguments: Sequence[str]) -> int:
    """Become the server, or with `-daemon` leave it behind."""
    parser = argparse.ArgumentParser(
        prog="moldau zookeeper",
        allow_abbrev=False,
        description=__doc__,
        epilog="Needs Java. The jars are PySpark's if it is installed, else they are fetched "
        "with Maven once and kept. KAFKA_HEAP_OPTS and KAFKA_OPTS are given to Java.",
    )
    parser.add_argument("config", help="a zookeeper.properties file")
    own, is_daemon = without_script_options(arguments)
    options = parser.parse_args(own)
    if not Path(options.config).is_file():
        raise CommandFailed(f"there is no file {options.config}")
    if is_daemon:
        leave_behind("zookeeper", "zookeeper.out", own)
        return 0
    command = command_line(options.config, zookeeper_jars())
    try:
        os.execvp(command[0], command)  # noqa: S606 - it is to be this process
    except FileNotFoundError:
        raise CommandFailed("there is no java: ZooKeeper needs it") from None


def command_line(config: str, jars: Sequence[Path]) -> list[str]:
    """The Java command of a server."""
    home = os.environ.get("JAVA_HOME")
    return [
        f"{home}/bin/java" if home else "java",
        *shlex.split(os.environ.get("KAFKA_HEAP_OPTS", _HEAP)),
        # Brokers depend on it: better none than one that stumbles on.
        "-XX:+ExitOnOutOfMemoryError",
        "-Dorg.slf4j.simpleLogger.showDateTime=true",
        "-Dzookeeper.admin.enableServer=false",
        *shlex.split(os.environ.get("KAFKA_OPTS", "")),
        mark(),
        "-cp",
        os.pathsep.join(map(str, jars)),
        _MAIN,
        config,
    ]
