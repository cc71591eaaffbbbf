"""Start a schema registry with Confluent's interface, which keeps its schemas in a topic."""

import argparse
import asyncio
import getpass
import logging
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.cli.terminal.client_settings import read_file, usable
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.log_options import add_log_options, start_log
from moldau.cli.terminal.web_options import add_web_options, binding_of, users_of
from moldau.client.settings import ClientSettings
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.registry.running import RegistryFrontage
    from moldau.registry.service import RegistryOptions

_log = logging.getLogger(__name__)

_PORT = 8081
_SERVERS = "localhost:9092"


def main(arguments: Sequence[str]) -> int:
    """Run a registry until it is asked to stop; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.hash_password:
        from moldau.web.users import hash_password  # noqa: PLC0415

        print(hash_password(getpass.getpass()))
        return 0
    start_log(options)
    try:
        asyncio.run(_serve(_registry(options), _frontage(options)))
    except* (KafkaError, OSError, RuntimeError) as errors:
        raise CommandFailed(f"moldau registry: {_first(errors)}") from None
    return 0


def _registry(options: argparse.Namespace) -> "RegistryOptions":
    try:
        from moldau.registry.levels import CompatibilityLevel  # noqa: PLC0415
        from moldau.registry.service import RegistryOptions  # noqa: PLC0415
    except ImportError as error:
        raise CommandFailed(f"{error}: pip install 'moldau[registry]'") from error

    level = options.compatibility.upper()
    if level not in CompatibilityLevel.__members__:
        levels = ", ".join(CompatibilityLevel.__members__)
        raise CommandFailed(f"--compatibility: {options.compatibility} is none of {levels}")
    texts = read_file(options.command_config or "")
    servers = options.bootstrap_server or texts.get("bootstrap.servers") or _SERVERS
    return RegistryOptions(
        usable(ClientSettings, {**texts, "bootstrap.servers": servers}),
        topic=options.topic,
        group=options.group,
        replication_factor=options.replication_factor,
        level=CompatibilityLevel[level],
    )


def _frontage(options: argparse.Namespace) -> "RegistryFrontage":
    from moldau.registry.running import RegistryFrontage  # noqa: PLC0415

    return RegistryFrontage(
        binding_of(options), users_of(options), options.advertised_url, options.tls_trusted
    )


async def _serve(registry: "RegistryOptions", frontage: "RegistryFrontage") -> None:
    from moldau.registry.running import running_registry  # noqa: PLC0415

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running_registry(registry, frontage) as (url, _):
        _log.info("the registry is at %s", url)
        await stop.wait()


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return (isinstance(found, OSError) and found.strerror) or str(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau registry", allow_abbrev=False, description=__doc__
    )
    parser.add_argument(
        "--bootstrap-server", metavar="SERVERS", help=f"the brokers; default: {_SERVERS}"
    )
    parser.add_argument(
        "--command-config", metavar="FILE", help="settings for the client, as Java's read them"
    )
    add_web_options(parser, _PORT)
    parser.add_argument(
        "--tls-trusted",
        metavar="FILE",
        help="authorities of other registries' certificates, in PEM; default: the system's",
    )
    parser.add_argument(
        "--advertised-url",
        metavar="URL",
        help="the address that other registries of the group use; default: where it listens",
    )
    parser.add_argument(
        "--topic", default="_schemas", help="the topic that keeps the schemas; default: _schemas"
    )
    parser.add_argument(
        "--group",
        default="schema-registry",
        help="registries of one group elect one that writes; default: schema-registry",
    )
    parser.add_argument(
        "--replication-factor",
        type=int,
        metavar="N",
        help="replicas of a new topic; default: 3 at most",
    )
    parser.add_argument(
        "--compatibility",
        default="BACKWARD",
        metavar="LEVEL",
        help="the level of subjects without one of their own; default: BACKWARD",
    )
    parser.add_argument(
        "--hash-password",
        action="store_true",
        help="ask for a password, print what may stand for it in the file of users, and end",
    )
    add_log_options(parser)
    return parser
