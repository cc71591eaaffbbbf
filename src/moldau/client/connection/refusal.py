"""Connections that cannot be had, and why."""

import os
import ssl

from moldau.errors import AuthenticationFailed, NetworkException


class NameUnknown(NetworkException):
    """A host has no address: it is misspelt, or not there yet."""


class SecurityRefused(NetworkException, AuthenticationFailed):
    """The two sides do not trust each other, or one speaks TLS and the other does not.

    The same would happen again: a caller that waits for a broker to start does not wait for it.
    """

    is_retriable = False


def why(error: BaseException) -> str:
    """What an exception of the system says, in its words; never empty."""
    if isinstance(error, ssl.SSLError):  # whose numbers are not those of the system
        reason: str = getattr(error, "reason", None) or ""
        return reason.replace("_", " ").lower() or _text(error)
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return _text(error)


def _text(error: BaseException) -> str:
    text = str(error)
    return type(error).__name__ if text in ("", "()") else text
