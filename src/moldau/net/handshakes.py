"""TLS handshakes of one listener: in turns, and slow to give up on a failure."""

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from moldau.net.tls_memory import TlsMemory

if TYPE_CHECKING:
    from moldau.net.tls_transport import TlsTransport

_log = logging.getLogger(__name__)

# A signature with RSA takes most of a millisecond, and a whole fleet may be calling.
_TURN_S = 0.004


class Handshakes:
    """The server's side of a listener's TLS connections."""

    def __init__(
        self,
        context: Callable[[], ssl.SSLContext],
        *,
        failure_delay_s: float = 0.0,
        count_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """`context` is asked for each new connection: keys change while a broker runs."""
        self.memory = TlsMemory()
        self._context = context
        self._failure_delay_s = failure_delay_s
        self._count_failure = count_failure
        self._waiting: deque[TlsTransport] = deque()
        self._at_once_until_s = 0.0
        self._at_once_again_s = 0.0
        self._loop = asyncio.get_running_loop()

    def engine(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> ssl.SSLObject:
        """The engine of a new connection."""
        return self._context().wrap_bio(incoming, outgoing, server_side=True)

    def may_go_on(self, transport: "TlsTransport") -> bool:
        """Whether a handshake may go on at once: one after the other may, but not a whole fleet.

        Otherwise its turn will come.
        """
        now_s = self._loop.time()
        if now_s >= self._at_once_again_s:
            self._at_once_until_s = now_s + _TURN_S
            self._at_once_again_s = now_s + 2 * _TURN_S
        if now_s < self._at_once_until_s and not self._waiting:
            return True
        if not self._waiting:
            self._loop.call_soon(self._turn)
        self._waiting.append(transport)
        return False

    def failed(self, transport: "TlsTransport", reason: str) -> None:
        """Log it, and close after the delay that is to slow down who tries it over again."""
        self._count_failure()
        peer, local = (
            transport.get_extra_info(name) or ("?", 0) for name in ("peername", "sockname")
        )
        _log.info(
            "Failed authentication with /%s (channelId=%s:%d-%s:%d) (SSL handshake failed): %s",
            *(peer[0], local[0], local[1], peer[0], peer[1], reason),
        )
        self._loop.call_later(self._failure_delay_s, transport.close)

    def _turn(self) -> None:
        end_s = self._loop.time() + _TURN_S
        while self._waiting:
            self._waiting.popleft().step()
            if self._loop.time() >= end_s:
                break
        if self._waiting:
            self._loop.call_soon(self._turn)
