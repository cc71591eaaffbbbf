"""Start a ZooKeeper server, with the settings of a zookeeper.properties file."""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from moldau.cli.java.zookeeper_jars import zookeeper_jars
from moldau.cli.terminal.daemon import leave_behind, without_script_options
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.own_tree import own_tree_settings, serve_own_tree
from moldau.cli.terminal.servers import mark
from moldau.config.properties import decode_properties
from moldau.runtime.logs import log_to_stderr

_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_HEAP = "-Xmx512M"


def main(arguments: Sequence[str]) -> int:
    """Become the server, or with `-daemon` leave it behind."""
    parser = argparse.ArgumentParser(
        prog="moldau zookeeper",
        allow_abbrev=False,
        description=__doc__,
        epilog="Where there is Java it is Apache's. The jars are PySpark's if it is installed, "
        "else they are fetched with Maven once and kept. KAFKA_HEAP_OPTS and KAFKA_OPTS are given "
        "to Java. Without Java it is Moldau's own tree, which speaks ZooKeeper's protocol and is "
        "for one machine.",
    )
    parser.add_argument("config", help="a zookeeper.properties file")
    parser.add_argument(
        "--own", action="store_true", help="Moldau's own tree even where there is Java"
    )
    own, is_daemon = without_script_options(arguments)
    options = parser.parse_args(own)
    if not Path(options.config).is_file():
        raise CommandFailed(f"there is no file {options.config}")
    if is_daemon:
        leave_behind("zookeeper", "zookeeper.out", own)
        return 0
    if options.own or not has_java():
        settings = own_tree_settings(decode_properties(Path(options.config).read_bytes()))
        why = "" if options.own else "there is no Java: "
        print(f"{why}Moldau's own tree takes ZooKeeper's place", file=sys.stderr, flush=True)
        log_to_stderr("info")
        serve_own_tree(settings)
        return 0
    print("Apache ZooKeeper is started with Java", file=sys.stderr, flush=True)
    command = command_line(options.config, zookeeper_jars())
    try:
        os.execvp(command[0], command)  # noqa: S606 - it is to be this process
    except FileNotFoundError:
        raise CommandFailed(f"there is no {command[0]}: look at JAVA_HOME") from None


def has_java() -> bool:
    """Whether there is a Java to start a server with."""
    return shutil.which(java()) is not None


def java() -> str:
    """The command that starts Java."""
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else "java"


def command_line(config: str, jars: Sequence[Path]) -> list[str]:
    """The Java command of a server."""
    return [
        java(),
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
