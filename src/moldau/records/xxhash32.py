"""xxHash-32 with seed 0, the checksum of LZ4 frame headers."""

from struct import iter_unpack

_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK = 0xFFFF_FFFF


def xxhash32(data: bytes) -> int:
    """Hash a few bytes; this is a Python loop and not meant for payloads."""
    prime1, prime2, prime3, prime4, prime5 = _PRIMES
    whole = len(data) // 16 * 16
    if whole:
        lanes = [prime1 + prime2, prime2, 0, -prime1]
        for words in iter_unpack("<4I", data[:whole]):
            lanes = [
                _rotate(lane + word * prime2, 13) * prime1
                for lane, word in zip(lanes, words, strict=True)
            ]
        rotations = zip(lanes, (1, 7, 12, 18), strict=True)
        result = sum(_rotate(lane, count) for lane, count in rotations)
    else:
        result = prime5
    result += len(data)
    words_end = len(data) // 4 * 4
    for (word,) in iter_unpack("<I", data[whole:words_end]):
        result = _rotate(result + word * prime3, 17) * prime4
    for byte in data[words_end:]:
        result = _rotate(result + byte * prime5, 11) * prime1
    result &= _MASK
    result = (result ^ result >> 15) * prime2 & _MASK
    result = (result ^ result >> 13) * prime3 & _MASK
    return result ^ result >> 16


def _rotate(value: int, count: int) -> int:
    value &= _MASK
    return (value << count | value >> 32 - count) & _MASK
