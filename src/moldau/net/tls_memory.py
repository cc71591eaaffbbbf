"""Buffers that the TLS connections of one listener share.

What is in them is copied before the next connection gets its turn. Listeners share none: brokers
may run in threads of one process, and OpenSSL and the system fill buffers without Python's lock.
"""

RECORD_MAX_BYTES = 16_384
SLICE_BYTES = 65_536
# Four whole records, header and checksum included.
_RECEIVED_BYTES = 4 * (RECORD_MAX_BYTES + 256)
_HANDSHAKE_BYTES = 16_384


class TlsMemory:
    """One set of buffers."""

    __slots__ = ("in_handshake", "received", "record", "slice", "whole_record")

    def __init__(self) -> None:
        self.received = memoryview(bytearray(_RECEIVED_BYTES))
        """Encrypted, as it came."""
        self.in_handshake = self.received[:_HANDSHAKE_BYTES]
        """As much of it as a handshake takes at once."""
        self.record = bytearray(RECORD_MAX_BYTES)
        """Decrypted."""
        self.whole_record = (RECORD_MAX_BYTES, self.record)
        """What a record is read by: made once, for it is used for each."""
        self.slice = memoryview(bytearray(SLICE_BYTES))
        """Of a file, before it is encrypted."""
