# The compiled form of words.py.

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy


cdef inline uint64_t add(uint64_t left, uint64_t right) noexcept nogil:
    return left + right


cdef inline uint64_t rotate_left(uint64_t word, int count) noexcept nogil:
    return word << count | word >> (64 - count)


cdef inline uint64_t read_word(const uint8_t* data, int64_t position, int64_t size) noexcept nogil:
    cdef uint64_t word = 0
    cdef int64_t index
    if size == 8:
        # Little-endian or not does not matter: the hash never leaves the process.
        memcpy(&word, data + position, 8)
        return word
    for index in range(size):
        word |= <uint64_t>data[position + index] << (8 * index)
    return word
