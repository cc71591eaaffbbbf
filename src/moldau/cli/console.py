"""Start the web console, for any Kafka cluster: topics, records, groups, brokers in a browser."""

import argparse
import asyncio
import getpass
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.cluster_file import read_clusters
from moldau.cli.terminal.console_logins import (
    add_login_options,
    kafka_logins_of,
    oidc_of,
    proxy_of,
    rules_of,
)
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.log_options import add_log_options, start_log
from moldau.cli.terminal.web_address import address_with_login
from moldau.cli.terminal.web_options import add_web_options, binding_of, users_of
from moldau.client.settings import ClientSettings

if TYPE_CHECKING:
    from moldau.console.running import ConsoleOptions

_log = logging.getLogger(__name__)

PORT = 8080
_SERVERS = "localhost:9092"
_ROLES = ("viewer", "reader", "operator", "admin")


def main(arguments: Sequence[str]) -> int:
    """Run a console until it is asked to stop; returns the exit code."""
    if arguments and arguments[0] == "users":
        return _users(arguments[1:])
    options = _parser().parse_args(arguments)
    start_log(options)
    try:
        asyncio.run(_serve(_console(options), ends_with_parent=options.ends_with_parent))
    except* OSError as errors:
        raise CommandFailed(f"moldau console: {_first(errors)}") from None
    return 0


def _console(options: argparse.Namespace) -> "ConsoleOptions":
    try:
        from moldau.console.running import ConsoleOptions  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: pip install 'moldau[console]'") from error

    if options.clusters is not None:
        if options.bootstrap_server or options.command_config:
            raise CommandFailed("--clusters names the brokers: leave --bootstrap-server out")
        texts = read_clusters(options.clusters)
    else:
        given = read_file(options.command_config or "")
        servers = options.bootstrap_server or given.get("bootstrap.servers") or _SERVERS
        texts = {options.name: {**given, "bootstrap.servers": servers}}
    registry = options.registry
    if registry is not None:
        registry = address_with_login(registry, "--registry")
        _check_registry(registry)
    clusters = {name: usable(ClientSettings, settings) for name, settings in texts.items()}
    return ConsoleOptions(
        clusters,
        binding_of(options),
        users_of(options, _ROLES),
        is_read_only=options.read_only,
        audit=options.audit,
        audit_topic=options.audit_topic,
        registry=registry,
        connect=_services(options.connect, "--connect"),
        streams=_services(options.streams, "--streams"),
        rules=rules_of(options),
        proxy=proxy_of(options),
        oidc=oidc_of(options),
        has_kafka_logins=kafka_logins_of(options, clusters),
    )


def _services(given: Sequence[str], option: str) -> dict[str, str]:
    """Addresses by their names; one without a name has that of its host."""
    from moldau.console.services.rest import RestService  # noqa: PLC0415

    found: dict[str, str] = {}
    for each in given:
        name, equals, url = each.partition("=")
        if not equals or "://" in name:
            name, url = "", each
        url = url.removesuffix("/metrics")  # as `moldau streams run` prints its address
        url = address_with_login(url, option)
        try:
            service = RestService(url)
        except ValueError as error:
            raise CommandFailed(f"{option}: {error}") from None
        name = name or urlsplit(service.address).netloc
        if name in found:
            raise CommandFailed(f"{option}: {name} is named twice: NAME=URL")
        found[name] = url
    return found


def _check_registry(url: str) -> None:
    from moldau.client.registry import Registry  # noqa: PLC0415

    try:
        Registry(url)
    except ValueError as error:
        raise CommandFailed(f"--registry: {error}") from None


async def _serve(options: "ConsoleOptions", *, ends_with_parent: bool) -> None:
    from moldau.console.running import running_console  # noqa: PLC0415

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_console(options) as url:
        _log.info("the console is at %s", url)
        print(url, flush=True)
        if ends_with_parent:
            # Standard input is a pipe of the parent: it can be read when that has gone.
            loop.add_reader(sys.stdin.fileno(), stop.set)
        await stop.wait()
        if ends_with_parent:
            loop.remove_reader(sys.stdin.fileno())


def _users(arguments: Sequence[str]) -> int:
    """Print or add a line of the file of users."""
    from moldau.web.users import hash_password  # noqa: PLC0415

    options = _users_parser().parse_args(arguments)
    if ":" in options.name or options.name != options.name.strip():
        raise CommandFailed("a name has no colon, and no space at its ends")
    password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not password:
        raise CommandFailed("there is no password")
    line = f"{options.name}: {hash_password(password)}, {options.role}\n"
    with open(options.users, "a", encoding="utf-8", opener=_private) as file:
        file.write(line)
    print(f"added {options.name} as {options.role}: moldau console --users {options.users}")
    return 0


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return (isinstance(found, OSError) and found.strerror) or str(found)


def _users_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau console users",
        allow_abbrev=False,
        description="Add a user; the password is asked for, or read from standard input.",
    )
    parser.add_argument("action", choices=("add",), help="what to do")
    parser.add_argument("name", help="the user")
    parser.add_argument("--role", choices=_ROLES, default="viewer", help="default: viewer")
    parser.add_argument("--users", metavar="FILE", required=True, help="the file of users")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau console",
        allow_abbrev=False,
        description=__doc__,
        epilog="`moldau console users add NAME --role ROLE --users FILE` adds a user. Without "
        "users everything is allowed on this machine, and others may only read.",
    )
    parser.add_argument(
        "--bootstrap-server", metavar="SERVERS", help=f"the brokers; default: {_SERVERS}"
    )
    parser.add_argument(
        "--command-config", metavar="FILE", help="settings for the client, as Java's read them"
    )
    parser.add_argument("--name", default="local", help="the cluster's name; default: local")
    parser.add_argument(
        "--clusters",
        metavar="FILE",
        help="several clusters: lines `name: SERVERS` or `name: FILE` with client settings",
    )
    parser.add_argument("--registry", metavar="URL", help="a schema registry, to decode values")
    parser.add_argument(
        "--connect",
        metavar="[NAME=]URL",
        action="append",
        default=[],
        help="a worker of Kafka Connect, to see and control connectors; may be repeated",
    )
    parser.add_argument(
        "--streams",
        metavar="[NAME=]URL",
        action="append",
        default=[],
        help="the metrics address of `moldau streams run --metrics-port`; may be repeated",
    )
    parser.add_argument("--read-only", action="store_true", help="allow no changes")
    parser.add_argument(
        "--audit", metavar="FILE", help="keep a line for every change and every look at records"
    )
    parser.add_argument(
        "--audit-topic",
        metavar="TOPIC",
        help="keep the same lines in a topic of the first cluster, which is created if needed",
    )
    add_web_options(parser, PORT, role="ROLE")
    add_login_options(parser)
    parser.add_argument("--ends-with-parent", action="store_true", help=argparse.SUPPRESS)
    add_log_options(parser)
    return parser
