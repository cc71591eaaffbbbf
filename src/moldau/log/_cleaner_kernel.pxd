# C types of cleaner_kernel.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

from moldau.log._key_map cimport KeyMap, batch_size, check_crc
from moldau.records.memory cimport (
    address, copy, int16_at, int32_at, int64_at, put_int16, put_int32, put_int64, varint_at,
    writable_view,
)


cdef class Output:
    cdef object target
    cdef int64_t capacity
    cdef readonly int64_t position
    cdef int64_t[::1] marks
    cdef int64_t marks_size
    cdef readonly int64_t mark_count
    cdef int64_t interval_bytes
    cdef int64_t unindexed_size
    cdef readonly int64_t largest_timestamp
    cdef readonly int64_t largest_offset

    cpdef bint has_room(self, int64_t size) noexcept

    cpdef add(self, const uint8_t[::1] batch, int64_t last_offset, int64_t max_timestamp)

    cdef void note(self, int64_t size, int64_t last_offset, int64_t max_timestamp) noexcept


cdef class Sieve:
    cdef KeyMap keys
    cdef int64_t[::1] kept_offsets
    cdef int64_t kept_count
    cdef int64_t now_ms
    cdef readonly int64_t horizon_ms
    cdef int64_t[::1] spans
    cdef int64_t span_capacity
    cdef readonly int64_t retained_count
    cdef readonly bint has_tombstone
    cdef readonly int64_t max_timestamp
    cdef readonly int64_t records_read
    cdef readonly int64_t records_retained

    @cython.locals(
        data="const uint8_t*", target="uint8_t*", end=int64_t, size=int64_t, attributes=int64_t,
        record_count=int64_t, last_offset=int64_t,
    )
    cpdef tuple clean_batches(self, chunk, int64_t position, Output output)

    cpdef select(self, const uint8_t[::1] batch, const uint8_t[::1] section)

    cpdef int64_t copy_selected(
        self, const uint8_t[::1] section, int64_t timestamp_shift, uint8_t[::1] target) except -1

    cpdef bint needs_horizon(self, int64_t attributes) noexcept

    @cython.locals(low=int64_t, high=int64_t, middle=int64_t)
    cpdef bint is_kept(self, int64_t last_offset) noexcept

    @cython.locals(
        is_past_horizon=bint, stays=bint, count=int64_t, start=int64_t, size=int64_t,
        record_end=int64_t, timestamp_delta=int64_t, offset_delta=int64_t, key_size=int64_t,
        key_end=int64_t, value_size=int64_t, value_position=int64_t, offset=int64_t,
        base_offset=int64_t, attributes=int64_t, base_timestamp=int64_t, record_count=int64_t,
    )
    cdef int select_section(
        self, const uint8_t* header, int64_t header_position, const uint8_t* data,
        int64_t position, int64_t end) except -1

    @cython.locals(
        target="uint8_t*", start=int64_t, timestamp_shift=int64_t, end=int64_t,
        max_timestamp=int64_t, checksum=int64_t, last_offset=int64_t,
    )
    cdef int rewrite(
        self, const uint8_t* data, int64_t position, int64_t attributes, Output output) except -1

    @cython.locals(
        number=int64_t, start=int64_t, record_end=int64_t, size=int64_t, body=int64_t,
        timestamp_delta=int64_t, rest=int64_t,
    )
    cdef int64_t copy_records(
        self, const uint8_t* data, int64_t timestamp_shift, uint8_t* target, int64_t position,
    ) noexcept


cdef int check_count(int64_t record_count, int64_t size) except -1

@cython.locals(zigzag=uint64_t, size=int64_t)
cdef int64_t varint_size(int64_t value) noexcept

@cython.locals(zigzag=uint64_t)
cdef int64_t write_varint(uint8_t* data, int64_t position, int64_t value) noexcept
