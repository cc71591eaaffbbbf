"""Who may ask: names with passwords or tokens, from a file.

# name: password, or what `moldau registry --hash-password` printed for it
anna: secret
bob: scrypt:c2FsdA==:aGFzaA==, read-only
# a program that sends `Authorization: Bearer …`
bearer ci: 0d6f2c40b1
"""

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

READ_ONLY = "read-only"
_BEARER = "bearer "
_SCRYPT = "scrypt:"
_SALT_BYTES = 16
# OWASP's least for scrypt: some 20 ms and 16 MB, which is why an answer is remembered.
_COST, _BLOCK, _PARALLEL = 2**14, 8, 5
_REMEMBERED_MAX = 1000


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who was recognised."""

    name: str
    is_read_only: bool = False
    roles: tuple[str, ...] = field(default=(), compare=False)
    """What stands after the secret, in words of the application."""


@dataclass(frozen=True, slots=True)
class _Known:
    user: User
    secret: str = field(repr=False)


class UserFileError(ValueError):
    """A line of the file that says nothing; the secret in it is not repeated."""


class Users:
    """Recognises people by password and programs by token."""

    def __init__(self, lines: Iterable[str], roles: Collection[str] = (READ_ONLY,)) -> None:
        self._roles = roles
        self._people: dict[str, _Known] = {}
        self._programs: list[_Known] = []
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                self._add(number, line)
        self._pepper = os.urandom(_SALT_BYTES)
        self._remembered: dict[bytes, User] = {}

    def authenticate(self, header: str) -> User | None:
        """Who sent this `Authorization`; None if nobody is known by it. May take 100 ms."""
        kind, _, sent = header.partition(" ")
        if kind.lower() == "bearer":
            sent = sent.strip()
            found = [each.user for each in self._programs if _is_secret(each.secret, sent)]
            return found[0] if found else None
        return self._person(header)

    def _person(self, header: str) -> User | None:
        mark = hmac.digest(self._pepper, header.encode(), "sha256")
        if mark in self._remembered:
            return self._remembered[mark]
        login = basic_login(header)
        if login is None:
            return None
        name, password = login
        known = self._people.get(name)
        if known is None or not _is_secret(known.secret, password):
            return None
        if len(self._remembered) < _REMEMBERED_MAX:
            self._remembered[mark] = known.user
        return known.user

    def _add(self, number: int, line: str) -> None:
        name, colon, rest = line.partition(":")
        secret, *roles = (part.strip() for part in rest.split(","))
        name = name.strip()
        if not colon or not name or not secret or set(roles) - set(self._roles):
            known = " or ".join(f"`name: password, {role}`" for role in self._roles)
            raise UserFileError(f"line {number}: `name: password` or {known}")
        is_program = name.lower().startswith(_BEARER)
        user = User(
            name[len(_BEARER) :].strip() if is_program else name, READ_ONLY in roles, tuple(roles)
        )
        if is_program:
            self._programs.append(_Known(user, secret))
        else:
            self._people[name] = _Known(user, secret)


def basic_login(header: str) -> tuple[str, str] | None:
    """The name and the password in an `Authorization` of that kind; None if there are none."""
    kind, _, sent = header.partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(sent.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, password


def hash_password(password: str) -> str:
    """What may stand in the file instead of the password."""
    salt = os.urandom(_SALT_BYTES)
    parts = (base64.b64encode(part).decode() for part in (salt, _scrypt(password, salt)))
    return _SCRYPT + ":".join(parts)


def _is_secret(kept: str, sent: str) -> bool:
    if not kept.startswith(_SCRYPT):
        return hmac.compare_digest(kept.encode(), sent.encode())
    try:
        salt, digest = (base64.b64decode(part) for part in kept[len(_SCRYPT) :].split(":"))
    except ValueError:
        return False
    return hmac.compare_digest(digest, _scrypt(sent, salt))


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL)
