"""Make certificates for TLS between your own machines: an authority, brokers, clients.

An authority that is in the directory already certifies again, so that machines can be added
later. With ca-key.pem anybody can make more of them: keep it where no broker runs.
"""

import argparse
import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.cli.terminal.failure import CommandFailed

if TYPE_CHECKING:
    from moldau.security.certificate_authority import CertificateAuthority, Certified

_LOCAL = "localhost,127.0.0.1,::1"
_DAYS = 365
_AUTHORITY_DAYS = 3650
_CA, _CA_KEY = "ca.pem", "ca-key.pem"


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        import moldau.security.certificate_authority  # noqa: F401, PLC0415 - needs a package
    except ImportError as error:
        raise CommandFailed(
            "Certificates need the package cryptography: pip install 'moldau[tls]'"
        ) from error
    wanted = _wanted(options)
    directory = Path(options.directory)
    for file in wanted:
        if (directory / file).exists() and not options.replace:
            raise CommandFailed(f"{directory / file} exists: --replace makes a new one.")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = dt.datetime.now(dt.UTC)
    authority = _authority(directory, now)
    for file, hosts in wanted.items():
        name = hosts[0] if hosts else file.removeprefix("client-").removesuffix(".pem")
        certified = authority.certify(name, hosts, now=now, days=options.days)
        _write(directory / file, certified.key + certified.certificate)
        print(f"{directory / file}: for {', '.join(hosts) or f'the client {name}'}")
    _print_settings(directory, next(iter(wanted)))
    return 0


def _wanted(options: argparse.Namespace) -> dict[str, list[str]]:
    """The files to make, with the hosts of those that are for brokers."""
    brokers = options.broker or ([] if options.client else [_LOCAL])
    wanted = {}
    for hosts in brokers:
        names = [each.strip() for each in hosts.split(",")]
        wanted[f"broker-{names[0].replace(':', '_')}.pem"] = names
    return wanted | {f"client-{name}.pem": [] for name in options.client or ()}


def _authority(directory: Path, now: dt.datetime) -> "CertificateAuthority":
    """That of the directory, which is made if there is none."""
    from moldau.security.certificate_authority import (  # noqa: PLC0415
        CertificateAuthority,
        Certified,
    )

    certificate, key = directory / _CA, directory / _CA_KEY
    if certificate.exists():
        try:
            own = Certified(key.read_text(), certificate.read_text())
            authority = CertificateAuthority.load(own)
        except (OSError, ValueError) as error:
            raise CommandFailed(f"{key}: {_reason(error)}") from error
        if authority.valid_until <= now:
            raise CommandFailed(f"{certificate} expired at {authority.valid_until:%Y-%m-%d}.")
        return authority
    authority = CertificateAuthority.create("Moldau CA", now=now, days=_AUTHORITY_DAYS)
    _write_authority(directory, authority.own)
    return authority


def _write_authority(directory: Path, own: "Certified") -> None:
    _write(directory / _CA_KEY, own.key)
    (directory / _CA).write_text(own.certificate)
    print(f"{directory / _CA}: the authority, for every trust store")
    print(f"{directory / _CA_KEY}: its key; keep it where no broker runs")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _write(path: Path, text: str) -> None:
    """Into a file that nobody else can read, not even for a moment."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def _print_settings(directory: Path, file: str) -> None:
    where = directory.absolute()
    print("\nSettings, here for the first of them:")
    for store, name in (("keystore", file), ("truststore", _CA)):
        print(f"ssl.{store}.type=PEM\nssl.{store}.location={where / name}")


def _client(text: str) -> str:
    if not text or "/" in text or text.startswith("."):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a file")
    return text


def _hosts(text: str) -> str:
    if not all(each.strip() and "/" not in each for each in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of hosts, as in a.example,10.0.0.1"
        )
    return text


def _days(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one day")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moldau certificates", allow_abbrev=False, description=__doc__
    )
    actions = parser.add_subparsers(dest="action", required=True)
    make = actions.add_parser(
        "make",
        allow_abbrev=False,
        help="make them, in a directory",
        description="Make an authority, and certificates of brokers and clients, in a directory.",
    )
    about = "where they go; default: certificates"
    make.add_argument("directory", nargs="?", default="certificates", help=about)
    make.add_argument(
        "--broker",
        action="append",
        type=_hosts,
        metavar="HOST[,HOST]",
        help="all names and addresses by which one broker is reached; may be given more than "
        f"once; {_LOCAL} unless anything is named",
    )
    make.add_argument(
        "--client",
        action="append",
        type=_client,
        metavar="NAME",
        help="a client, User:CN=NAME to brokers; may be given more than once",
    )
    make.add_argument("--days", type=_days, default=_DAYS, help="for which they are good")
    make.add_argument(
        "--replace", action="store_true", help="make new ones for those that are there"
    )
    return parser
