# The compiled form of words.py.

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
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


cdef inline int64_t read_int16(const uint8_t* data, int64_t position) noexcept nogil:
    return <int16_t>(<uint16_t>data[position] << 8 | data[position + 1])


cdef inline int64_t read_int32(const uint8_t* data, int64_t position) noexcept nogil:
    return <int32_t>(
        <uint32_t>data[position] << 24 | <uint32_t>data[position + 1] << 16
        | <uint32_t>data[position + 2] << 8 | <uint32_t>data[position + 3]
    )


cdef inline int64_t read_int64(const uint8_t* data, int64_t position) noexcept nogil:
    return <int64_t>(
        <uint64_t>read_int32(data, position) << 32
        | (<uint64_t>read_int32(data, position + 4) & <uint64_t>0xFFFFFFFFU)
    )


cdef inline void write_int16(uint8_t* data, int64_t position, int64_t value) noexcept nogil:
    data[position] = <uint8_t>(value >> 8)
    data[position + 1] = <uint8_t>value


cdef inline void write_int32(uint8_t* data, int64_t position, int64_t value) noexcept nogil:
    data[position] = <uint8_t>(value >> 24)
    data[position + 1] = <uint8_t>(value >> 16)
    data[position + 2] = <uint8_t>(value >> 8)
    data[position + 3] = <uint8_t>value


cdef inline void write_int64(uint8_t* data, int64_t position, int64_t value) noexcept nogil:
    write_int32(data, position, value >> 32)
    write_int32(data, position + 4, value)


cdef inline (int64_t, int64_t) read_varint(
    const uint8_t* data, int64_t position, int64_t end
) noexcept nogil:
    cdef uint64_t value = 0
    cdef uint64_t bits
    cdef int shift = 0
    while position < end and shift < 64:
        bits = data[position]
        position += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            return <int64_t>(value >> 1) ^ -<int64_t>(value & 1), position
        shift += 7
    return 0, end + 1


cdef inline const uint8_t* readable_address(const uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline uint8_t* writable_address(uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline void copy(
    uint8_t* target, int64_t target_position, const uint8_t* source, int64_t start, int64_t end
) noexcept nogil:
    memcpy(target + target_position, source + start, end - start)
