"""Which errors say that nobody listens at any address of a host."""

import asyncio
import socket
from errno import ECONNREFUSED, EHOSTUNREACH

import pytest

from moldau.net.refusal import as_refusal

TWO = "Multiple exceptions: [Errno 111] Connect call failed ('::1', 9), [Errno {}] Connect call"


def test_a_name_is_refused_if_all_its_addresses_are() -> None:
    assert isinstance(as_refusal(OSError(TWO.format(ECONNREFUSED))), ConnectionRefusedError)


@pytest.mark.parametrize(
    "error",
    [
        OSError(TWO.format(EHOSTUNREACH)),
        OSError(EHOSTUNREACH, "unreachable"),
        OSError("nothing that we know"),
        TimeoutError("[Errno 111] of something else"),
        ConnectionRefusedError(ECONNREFUSED, "refused"),
    ],
)
def test_any_other_error_stays_what_it_is(error: OSError) -> None:
    assert as_refusal(error) is error


async def test_it_is_what_asyncio_raises() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(OSError) as refused:  # noqa: PT011 - which it is, is what is looked at
        await asyncio.get_running_loop().create_connection(asyncio.Protocol, "localhost", port)
    assert isinstance(as_refusal(refused.value), ConnectionRefusedError)
