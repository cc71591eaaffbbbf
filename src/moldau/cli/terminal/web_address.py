"""Addresses of services over HTTP on a command line, and the logins that belong to them."""

import netrc
import os
import stat
from urllib.parse import quote, urlsplit

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import warn


def address_with_login(url: str, option: str) -> str:
    """The address with a name and a password: its own, or those of the host in ~/.netrc.

    A password in the option itself is visible to all users of the machine, so it comes with a
    warning.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return url  # its user says what is wrong with it
    if parts.scheme not in ("http", "https") or not host:
        return url
    if parts.password:
        warn_of_password(option, f"the line `machine {host} login … password …` of ~/.netrc")
    if parts.username is not None:
        return url
    login = _login_of(host)
    if login is None:
        return url
    pair = ":".join(quote(each, safe="") for each in login)
    return parts._replace(netloc=f"{pair}@{parts.netloc}").geturl()


def warn_of_password(option: str, place: str) -> None:
    """Say that others can see the password that an option has, and where else to put it."""
    warn(
        f"WARNING: other users of this machine can see the password in {option}, as ps shows it: "
        f"put it into {place}"
    )


def _login_of(host: str) -> tuple[str, str] | None:
    """Name and password of a host, as curl finds them with --netrc."""
    named = os.environ.get("NETRC")
    path = named or os.path.expanduser("~/.netrc")
    try:
        found = netrc.netrc(path).authenticators(host)
        is_open = os.stat(path).st_mode & (stat.S_IRGRP | stat.S_IROTH)
    except FileNotFoundError as error:
        if named:
            raise CommandFailed(f"NETRC: {named}: {error.strerror}") from error
        return None
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except (netrc.NetrcParseError, UnicodeDecodeError) as error:
        # Its own message has the word that it stumbled over, maybe of a password.
        form = "machine HOST login NAME password PASSWORD"
        line = getattr(error, "lineno", 1)
        raise CommandFailed(f"{path}, near line {line}: not {form}") from None
    if found is None:
        return None
    if is_open:
        warn(f"WARNING: other users of this machine can read the passwords in {path}: chmod 600")
    name, _, password = found
    return name, password or ""
