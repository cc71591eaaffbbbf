"""Buffers of TLS connections: shared by those of a listener, and by no others."""

from moldau.net.handshakes import Handshakes
from moldau.net.tls_memory import RECORD_MAX_BYTES, SLICE_BYTES, TlsMemory
from unit.net.tls_line import server_tls


def test_a_handshake_takes_the_beginning_of_what_is_received() -> None:
    memory = TlsMemory()
    memory.received[0] = 0x16
    assert memory.in_handshake[0] == 0x16
    assert len(memory.in_handshake) < len(memory.received)
    assert (len(memory.record), len(memory.slice)) == (RECORD_MAX_BYTES, SLICE_BYTES)


async def test_listeners_share_nothing() -> None:
    """Their brokers may run in threads of one process."""
    one, other = Handshakes(server_tls), Handshakes(server_tls)
    for name in TlsMemory.__slots__:
        assert getattr(one.memory, name) is not getattr(other.memory, name)
