# C types of key_map.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

from moldau.log.words cimport add, read_word, rotate_left
from moldau.records.memory cimport address, int16_at, int32_at, int64_at, varint_at


cdef class KeyMap:
    cdef uint64_t[::1] table
    cdef uint64_t word_count
    cdef readonly int64_t count
    cdef readonly int64_t count_max
    cdef int64_t start_offset
    cdef public int64_t latest_offset
    cdef uint64_t state0, state1, state2, state3

    cpdef put_key(self, const uint8_t[::1] key, int64_t offset)

    cpdef int64_t offset_of(self, const uint8_t[::1] key) except? -2

    cpdef tuple hash_of(self, const uint8_t[::1] key)

    @cython.locals(data="const uint8_t*", end=int64_t, size=int64_t, last_offset=int64_t)
    cpdef tuple map_batches(self, chunk, int64_t position)

    cpdef bint map_records(
        self, const uint8_t[::1] batch, const uint8_t[::1] section) except -1

    @cython.locals(
        base_offset=int64_t, record_count=int64_t, size=int64_t, record_end=int64_t,
        _timestamp_delta=int64_t, offset_delta=int64_t, key_size=int64_t,
    )
    cdef bint map_section(
        self, const uint8_t* header, int64_t header_position, const uint8_t* data,
        int64_t position, int64_t end) except -1

    @cython.locals(low=uint64_t, high=uint64_t, word=uint64_t)
    cdef void put(self, const uint8_t* data, int64_t position, int64_t size, int64_t offset) noexcept

    @cython.locals(low=uint64_t, high=uint64_t, word=uint64_t)
    cdef int64_t get(self, const uint8_t* data, int64_t position, int64_t size) noexcept

    @cython.locals(
        v0=uint64_t, v1=uint64_t, v2=uint64_t, v3=uint64_t, word=uint64_t, low=uint64_t,
        left=int64_t,
    )
    cdef (uint64_t, uint64_t) hash(
        self, const uint8_t* data, int64_t position, int64_t size) noexcept


cdef (uint64_t, uint64_t, uint64_t, uint64_t) sip_finish(
    uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3) noexcept

cdef (uint64_t, uint64_t, uint64_t, uint64_t) sip_round(
    uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3) noexcept

@cython.locals(size=int64_t)
cdef int64_t batch_size(const uint8_t* data, int64_t position, int64_t end) except -1

@cython.locals(claimed=int64_t)
cdef int check_crc(chunk, int64_t position, int64_t size) except -1
