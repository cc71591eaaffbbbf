"""Options of commands that serve HTTP: where, with which certificate, for whom."""

import argparse
from collections.abc import Collection
from typing import TYPE_CHECKING

from moldau.cli.terminal.failure import CommandFailed
from moldau.config.listeners import LOOPBACK

if TYPE_CHECKING:
    from moldau.web.server import Binding
    from moldau.web.users import Users

_PORT_MAX = 65_535


def add_web_options(parser: argparse.ArgumentParser, port: int, *, role: str = "read-only") -> None:
    """The same names for every such command."""
    parser.add_argument(
        "--port", type=int, default=port, help=f"the port to listen on; default: {port}"
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help="the address to listen on, 0.0.0.0 for all; default: this machine alone",
    )
    parser.add_argument(
        "--tls-certificate", metavar="FILE", help="a certificate in PEM; turns TLS on"
    )
    parser.add_argument("--tls-key", metavar="FILE", help="its key, unless it is in the same file")
    parser.add_argument(
        "--users",
        metavar="FILE",
        help=f"who may log in: lines `name: password`, `name: password, {role}` or "
        "`bearer name: token`; without it everybody may who can connect",
    )


def binding_of(options: argparse.Namespace) -> "Binding":
    """Where to listen."""
    from moldau.web.server import Binding  # noqa: PLC0415 - --help does without it

    if not 0 <= options.port <= _PORT_MAX:
        raise CommandFailed(f"--port: {options.port} is not between 0 and {_PORT_MAX}")
    return Binding(options.port, options.host, options.tls_certificate, options.tls_key)


def users_of(
    options: argparse.Namespace, roles: Collection[str] = ("read-only",)
) -> "Users | None":
    """Who may ask, with these roles."""
    from moldau.web.users import UserFileError, Users  # noqa: PLC0415

    if options.users is None:
        return None
    try:
        with open(options.users, encoding="utf-8") as file:
            return Users(file, roles)
    except OSError as error:
        raise CommandFailed(f"{options.users}: {error.strerror}") from error
    except UserFileError as error:
        raise CommandFailed(f"{options.users}: {error}") from error
