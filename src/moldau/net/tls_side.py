"""What the TLS connections of one listener have in common."""

import ssl
from typing import TYPE_CHECKING, Protocol

from moldau.net.tls_memory import TlsMemory

if TYPE_CHECKING:
    from moldau.net.tls_transport import TlsTransport


class TlsSide(Protocol):
    """Makes engines for connections, and decides on their handshakes."""

    memory: TlsMemory

    def engine(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> ssl.SSLObject:
        """The engine of a new connection."""

    def may_go_on(self, transport: "TlsTransport") -> bool:
        """Whether a handshake that more has come of goes on now.

        If not, the transport's `step` is called in its turn.
        """

    def failed(self, transport: "TlsTransport", reason: str) -> None:
        """There will be no agreement: close the transport, now or later."""


def reason_of(error: ssl.SSLError) -> str:
    """Why there is no agreement, in words and without places in a source."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message}"
    return (error.reason or str(error)).replace("_", " ").lower()
