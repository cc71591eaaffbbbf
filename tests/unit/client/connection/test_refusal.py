"""Why a connection cannot be had, in words."""

import errno
import socket
import ssl

import pytest

from moldau.client.connection.refusal import SecurityRefused, why
from moldau.errors import AuthenticationFailed, ErrorCode, NetworkException


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "Connection refused"),
        (ConnectionResetError(), "ConnectionResetError"),
        (ConnectionAbortedError("SSL handshake took long"), "SSL handshake took long"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "not known"),
        (ssl.SSLError(1, "[SSL: X] x"), "[SSL: X] x"),
        (ssl.SSLEOFError(), "SSLEOFError"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_it_is_never_empty(error: OSError, text: str) -> None:
    assert text in why(error)


def test_it_is_not_worth_another_try() -> None:
    refused = SecurityRefused(ErrorCode.NETWORK_EXCEPTION, "why")
    assert not refused.is_retriable
    assert isinstance(refused, NetworkException)
    assert isinstance(refused, AuthenticationFailed)
