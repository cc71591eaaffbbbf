# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""How many TLS records have come that OpenSSL has not been asked for; compiled as `_tls_records`.

OpenSSL gives one record for each call, and says that there is none by an exception, which costs as
much as several records. The length of a record stands in its first bytes, which are not encrypted.
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

if not cython.compiled:
    from moldau.records.memory import start_of

HEAD_BYTES = 5
FIRST_KIND, LAST_KIND = 0x14, 0x17
# What TLS 1.2 allows; 1.3 allows less.
CONTENT_MAX_BYTES = 16_384 + 2_048
# Which is to be asked for as long as OpenSSL gives any.
UNKNOWN = 1 << 62


class ArrivedRecords:
    """Counts as many as there are or more: records without content are not given to anybody."""

    def __init__(self) -> None:
        self.whole = 0
        """Not asked for yet; to be made 0 when OpenSSL has said that there is none."""
        self._head = 0
        self._head_bytes = 0
        self._missing_bytes = 0
        self._is_lost = False

    def came(self, data: memoryview, size: int) -> None:
        """So many bytes of `data` have come."""
        source, position = start_of(data), 0
        while position < size and not self._is_lost:
            if self._missing_bytes:
                step = min(self._missing_bytes, size - position)
                self._missing_bytes -= step
                position += step
                if not self._missing_bytes:
                    self.whole += 1
            else:
                self._take_head(source[position])
                position += 1
        if self._is_lost:
            self.whole = UNKNOWN

    def _take_head(self, byte: int) -> None:
        """One more byte of a record's first five: its kind, version and length."""
        self._head = self._head << 8 | byte
        self._head_bytes += 1
        if self._head_bytes < HEAD_BYTES:
            return
        kind, length = self._head >> 32, self._head & 0xFFFF
        self._head = self._head_bytes = 0
        # What is no record is for OpenSSL to judge, at once.
        self._is_lost = not (FIRST_KIND <= kind <= LAST_KIND and 0 < length <= CONTENT_MAX_BYTES)
        self._missing_bytes = length
