# The compiled form of murmur.py.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef inline int64_t murmur2(bytes data) noexcept:
    return murmur2_at(<const uint8_t*>PyBytes_AS_STRING(data), 0, PyBytes_GET_SIZE(data))


cdef inline int64_t murmur2_at(const uint8_t* source, int64_t position, int64_t size) noexcept:
    cdef uint32_t value = 0x9747B28CU ^ <uint32_t>size
    cdef uint32_t multiplier = 0x5BD1E995U
    cdef uint32_t word
    cdef const uint8_t* end = source + position + size
    source += position
    while end - source >= 4:
        word = (
            <uint32_t>source[0] | <uint32_t>source[1] << 8
            | <uint32_t>source[2] << 16 | <uint32_t>source[3] << 24)
        word *= multiplier
        word = (word ^ word >> 24) * multiplier
        value = value * multiplier ^ word
        source += 4
    if end > source:
        if end - source == 3:
            value ^= <uint32_t>source[2] << 16
        if end - source >= 2:
            value ^= <uint32_t>source[1] << 8
        value = (value ^ source[0]) * multiplier
    value = (value ^ value >> 13) * multiplier
    return <int32_t>(value ^ value >> 15)
