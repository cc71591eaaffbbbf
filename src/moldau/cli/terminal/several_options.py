"""Options of `moldau serve` for several brokers, and how one of them ends with its supervisor."""

import argparse
import asyncio
import logging
import os
import sys

from moldau.net.inherited import inherited
from moldau.net.listener import Bind, listen

_log = logging.getLogger(__name__)

_GRACE_S = 5.0
_OF_SEVERAL = ("ports", "tree_port")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `moldau serve` that are about several brokers."""
    parser.add_argument(
        "--brokers",
        metavar="N",
        help="run a cluster of so many brokers on this machine, each a process of its own, without "
        "ZooKeeper; auto: as many as there are cores",
    )
    parser.add_argument(
        "--ports",
        metavar="PORT,PORT",
        help="the ports of these brokers; default: those after --port, where any of them answers",
    )
    parser.add_argument(
        "--advertised-host",
        metavar="HOST",
        help="the address of these brokers that clients get; they call each other on this machine",
    )
    parser.add_argument(
        "--tree-port",
        type=int,
        metavar="PORT",
        help="serve their tree on this port of localhost, for zkCli.sh and moldau tree; default: "
        "any free one",
    )
    parser.add_argument("--until-input-ends", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--shared-port", metavar="PORT=DESCRIPTORS", help=argparse.SUPPRESS)


def require_brokers(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse what is said about several brokers where there is but one."""
    if options.brokers is not None:
        return
    given = [name for name in _OF_SEVERAL if getattr(options, name) is not None]
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        parser.error(f"{names}: only with --brokers")


def bind_of(options: argparse.Namespace) -> Bind:
    """How listeners are bound: one that brokers share has sockets of the supervisor's."""
    if options.shared_port is None:
        return listen
    port, _, descriptors = options.shared_port.partition("=")
    return inherited(int(port), list(map(int, descriptors.split(","))), listen)


def end_with_input(stop: asyncio.Event) -> None:
    """Have a broker stop when its standard input ends: its supervisor is gone, however it ended."""
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        if not os.read(descriptor, 1024):
            loop.remove_reader(descriptor)
            _log.warning("the supervisor is gone, and the tree with it: this broker stops")
            stop.set()
            # Without the tree it cannot hand over; the next start recovers.
            loop.call_later(_GRACE_S, os._exit, 1)

    loop.add_reader(descriptor, read)
