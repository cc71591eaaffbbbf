"""What the TLS connections of one end have in common: a listener's, or a channel's."""

import ssl
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from moldau.net.tls_transport import TlsTransport


class TlsSide(Protocol):
    """An end that makes connections, and decides on their handshakes."""

    def engine(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> ssl.SSLObject:
        """The engine of a new connection."""

    def begins(self, transport: "TlsTransport") -> None:
        """A connection is there."""

    def may_go_on(self, transport: "TlsTransport") -> None:
        """More of a handshake has come: call the transport's `step`, now or in its turn."""

    def failed(self, transport: "TlsTransport", reason: str) -> None:
        """There will be no agreement: close the transport, now or later."""


def reason_of(error: ssl.SSLError) -> str:
    """Why there is no agreement, in words and without places in a source."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message}"
    return (error.reason or str(error)).replace("_", " ").lower()
