# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The newest offset of every key, in a table of fixed size.

This file runs as it stands and is also compiled as `_key_map`; `_key_map.pxd` then gives
its variables C types. Bytes come from a file, so every position is compared with the end
of what may be read before it is used, in both forms.

Keys are known by 128 bits of SipHash-2-4 under a secret seed, not by their bytes: two of
a billion keys agree with a probability of about 2**-69, and a client that does not know
the seed cannot look for such a pair.

Positions in a batch's header: 0 base offset, 8 length, 16 magic, 17 checksum,
21 attributes, 23 last offset delta, 57 record count, 61 records.
"""

try:
    import cython  # type: ignore[import-untyped]
except ImportError:
    from moldau.runtime import uncompiled as cython

from moldau.errors import ProtocolError
from moldau.records.crc32c import crc32c

if not cython.compiled:
    from moldau.log.words import add, read_word, rotate_left
    from moldau.records.memory import address, int16_at, int32_at, int64_at, varint_at

# Why a run over plain batches ended.
MORE = 0  # the next batch is not whole in the chunk
SPECIAL = 1  # the next batch is not plain, or what is left of it needs a decision
FULL = 2  # no room: in the key map, or in the output

_SIP_INITIAL = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


class KeyMap:
    """Open addressing, linear, nothing is ever removed.

    `latest_offset` is the last offset whose batch is mapped completely.
    """

    def __init__(self, table: memoryview, seed: bytes, count_max: int, start_offset: int) -> None:
        """`table` holds three unsigned 64-bit words per slot, all zero at first.

        Records before `start_offset` are not mapped.
        """
        self.table = table
        self.word_count = len(table)
        self.count = 0
        self.count_max = count_max
        self.start_offset = start_offset
        self.latest_offset = start_offset - 1
        low, high = int.from_bytes(seed[:8], "little"), int.from_bytes(seed[8:16], "little")
        self.state0 = low ^ _SIP_INITIAL[0]
        self.state1 = high ^ _SIP_INITIAL[1] ^ 0xEE
        self.state2 = low ^ _SIP_INITIAL[2]
        self.state3 = high ^ _SIP_INITIAL[3]
        assert count_max < len(table) // 3, "a search ends at an empty slot"

    def put_key(self, key: memoryview, offset: int) -> None:
        """Note the newest offset of a key."""
        self.put(address(key), 0, len(key), offset)

    def offset_of(self, key: memoryview) -> int:
        """The newest offset of a key, -1 if it is not here."""
        return self.get(address(key), 0, len(key))

    def hash_of(self, key: memoryview) -> tuple[int, int]:
        """What stands for a key: the two halves of its hash."""
        return self.hash(address(key), 0, len(key))

    def map_batches(self, chunk: memoryview, position: int) -> tuple[int, int]:
        """Map the keys of plain batches from `position` on.

        Plain is what is neither compressed nor transactional nor control; at any other
        batch the run stops, and the caller handles that one. Returns where the run ended
        and why. When the map is full, some keys of the next batch may be in it: they only
        say that older records are not the newest.
        """
        data = address(chunk)
        end = len(chunk)
        while True:
            size = batch_size(data, position, end)
            if size == 0:
                return position, MORE
            if int16_at(data, position + 21) & 0x37:
                return position, SPECIAL
            last_offset = int64_at(data, position) + int32_at(data, position + 23)
            if last_offset >= self.start_offset:
                check_crc(chunk, position, size)
                if not self.map_section(data, position, data, position + 61, position + size):
                    return position, FULL
                self.latest_offset = last_offset
            position += size

    def map_records(self, batch: memoryview, section: memoryview) -> bool:
        """Map the keys of one batch, given its decompressed records too.

        False if the map was full before the end.
        """
        return self.map_section(address(batch), 0, address(section), 0, len(section))

    def map_section(
        self, header: memoryview, header_position: int, data: memoryview, position: int, end: int
    ) -> bool:
        """`map_records` for the records in `data[position:end]`."""
        base_offset = int64_at(header, header_position)
        record_count = int32_at(header, header_position + 57)
        while record_count > 0:
            size, position = varint_at(data, position, end)
            record_end = position + size
            if position > end or size < 0 or record_end > end:
                raise ProtocolError("a record does not fit into its batch")
            _timestamp_delta, position = varint_at(data, position + 1, record_end)
            offset_delta, position = varint_at(data, position, record_end)
            key_size, position = varint_at(data, position, record_end)
            if position > record_end or key_size < -1 or key_size > record_end - position:
                raise ProtocolError("a key does not fit into its record")
            if key_size >= 0 and base_offset + offset_delta >= self.start_offset:
                if self.count >= self.count_max:
                    return False
                self.put(data, position, key_size, base_offset + offset_delta)
            position = record_end
            record_count -= 1
            if record_count & 0xFFFF == 0xFFFF:
                with cython.nogil:  # a batch may open to millions: others have their turn
                    pass
        return True

    def put(self, data: memoryview, position: int, size: int, offset: int) -> None:
        """`put_key` for `size` bytes at `position`."""
        low, high = self.hash(data, position, size)
        word = low % (self.word_count // 3) * 3
        while self.table[word + 2] != 0:
            if self.table[word] == low and self.table[word + 1] == high:
                self.table[word + 2] = offset + 1
                return
            word += 3
            if word == self.word_count:
                word = 0
        self.table[word] = low
        self.table[word + 1] = high
        self.table[word + 2] = offset + 1
        self.count += 1

    def get(self, data: memoryview, position: int, size: int) -> int:
        """`offset_of` for `size` bytes at `position`."""
        low, high = self.hash(data, position, size)
        word = low % (self.word_count // 3) * 3
        while self.table[word + 2] != 0:
            if self.table[word] == low and self.table[word + 1] == high:
                return self.table[word + 2] - 1
            word += 3
            if word == self.word_count:
                word = 0
        return -1

    def hash(self, data: memoryview, position: int, size: int) -> tuple[int, int]:
        """SipHash-2-4 with 128 bits of output, as specified."""
        v0, v1, v2, v3 = self.state0, self.state1, self.state2, self.state3
        left = size
        while left >= 8:
            word = read_word(data, position, 8)
            v3 ^= word
            v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
            v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
            v0 ^= word
            position += 8
            left -= 8
        word = read_word(data, position, left) | (size & 0xFF) << 56
        v3 ^= word
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        v0 ^= word
        v2 ^= 0xEE
        v0, v1, v2, v3 = sip_finish(v0, v1, v2, v3)
        low = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xDD
        v0, v1, v2, v3 = sip_finish(v0, v1, v2, v3)
        return low, v0 ^ v1 ^ v2 ^ v3


def sip_finish(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    """Four rounds."""
    v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    return sip_round(v0, v1, v2, v3)


def sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    """One round of SipHash."""
    v0 = add(v0, v1)
    v1 = rotate_left(v1, 13) ^ v0
    v0 = rotate_left(v0, 32)
    v2 = add(v2, v3)
    v3 = rotate_left(v3, 16) ^ v2
    v0 = add(v0, v3)
    v3 = rotate_left(v3, 21) ^ v0
    v2 = add(v2, v1)
    v1 = rotate_left(v1, 17) ^ v2
    v2 = rotate_left(v2, 32)
    return v0, v1, v2, v3


def batch_size(data: memoryview, position: int, end: int) -> int:
    """The size of the batch at `position`; 0 if it is not whole before `end`."""
    if position + 61 > end:
        return 0
    size = int32_at(data, position + 8) + 12
    if size < 61 or data[position + 16] != 2:
        raise ProtocolError(f"no batch at {position}")
    return size if size <= end - position else 0


def check_crc(chunk: memoryview, position: int, size: int) -> None:
    """Refuse a damaged batch: its keys cannot be trusted, and cleaned it would pass for good."""
    claimed = int32_at(address(chunk), position + 17) & 0xFFFFFFFF
    if crc32c(chunk[position + 21 : position + size]) != claimed:
        raise ProtocolError(f"the batch at {position} has a wrong checksum")
