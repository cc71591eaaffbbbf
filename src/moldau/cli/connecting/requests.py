"""Requests to a Connect worker over REST."""

import argparse
import base64
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from moldau.cli.terminal.failure import CommandFailed

URL = "http://localhost:8083"
_TIMEOUT_S = 95.0
_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class WorkerAddress:
    """Where a worker is, and how to log in there."""

    url: str
    authorization: str | None = field(default=None, repr=False)
    authority: str | None = None
    """A file of certificates to trust, instead of the system's."""

    def ask(self, method: str, path: str, body: object = None) -> object:
        """The answer; CommandFailed has the worker's own words."""
        data = None if body is None else json.dumps(body).encode()
        if not self.url.startswith(("http://", "https://")):
            raise CommandFailed(f"--url: {self.url} is no address of HTTP")
        headers = {"Content-Type": "application/json"}
        if self.authorization is not None:
            headers["Authorization"] = self.authorization
        request = urllib.request.Request(  # noqa: S310 - checked above
            f"{self.url.rstrip('/')}/{path}", data, headers, method=method
        )
        try:
            context = self._context()
            with urllib.request.urlopen(  # noqa: S310 - checked above
                request, timeout=_TIMEOUT_S, context=context
            ) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            hint = "; log in with --login FILE" if error.code == 401 else ""
            raise CommandFailed(f"{_message(error.read()) or error}{hint}") from error
        except OSError as error:
            reason = getattr(error, "reason", error)
            hint = "" if isinstance(reason, ssl.SSLError) else "; is a worker running there?"
            raise CommandFailed(f"{self.url}: {reason}{hint}") from error
        return json.loads(text) if text else None

    def _context(self) -> ssl.SSLContext | None:
        if not self.url.startswith("https://"):
            return None
        try:
            return ssl.create_default_context(cafile=self.authority)
        except OSError as error:
            raise CommandFailed(f"--ca: {self.authority}: {error.strerror or error}") from error


def add_address(parser: argparse.ArgumentParser) -> None:
    """The options of a command that asks a worker."""
    parser.add_argument("--url", default=URL, help=f"the worker; default: {URL}")
    parser.add_argument(
        "--login", metavar="FILE", help="a file with a line NAME: PASSWORD or bearer TOKEN"
    )
    parser.add_argument("--ca", metavar="FILE", help="certificates to trust, in PEM")


def address_of(options: argparse.Namespace) -> WorkerAddress:
    """What the options say."""
    return WorkerAddress(options.url, _authorization(options.login), options.ca)


def _authorization(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline().strip()
    except OSError as error:
        raise CommandFailed(f"--login: {path}: {error.strerror}") from error
    if line.lower().startswith(_BEARER):
        return f"Bearer {line[len(_BEARER) :].strip()}"
    name, colon, password = line.partition(":")
    if not colon:
        raise CommandFailed(f"--login: {path}: the line is NAME: PASSWORD or bearer TOKEN")
    login = f"{name.strip()}:{password.strip()}"
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def _message(data: bytes) -> str:
    try:
        return str(json.loads(data)["message"])
    except (ValueError, KeyError, TypeError):
        return ""
