# C types of kernel.py; every name here is a function or variable there. (Cython warns about
# `inline` on declarations, but heeds it, and it is worth a third of the speed.)

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

from moldau.records.memory cimport address


@cython.locals(
    data="const uint8_t*", position=int64_t, end=int64_t, record_end=int64_t, index=int64_t,
    size=int64_t, timestamp_delta=int64_t, offset_delta=int64_t, key_size=int64_t,
    max_timestamp_delta=int64_t, offset_delta_of_max=int64_t, any_null_key=bint,
)
cpdef tuple check_records(const uint8_t[::1] body, int64_t record_count)

@cython.locals(low=int64_t, high=int64_t)
cdef inline (int64_t, int64_t) read_varint(
    const uint8_t* data, int64_t position, int64_t end) noexcept

@cython.locals(low=int64_t, high=int64_t)
cdef inline (int64_t, int64_t) read_varlong(
    const uint8_t* data, int64_t position, int64_t end) noexcept

@cython.locals(value=uint64_t, shift=int64_t, byte=uint64_t)
cdef (int64_t, int64_t) read_number(
    const uint8_t* data, int64_t position, int64_t end, int64_t width) noexcept

@cython.locals(size=int64_t)
cdef inline int64_t skip_field(const uint8_t* data, int64_t position, int64_t end) noexcept

@cython.locals(count=int64_t, size=int64_t)
cdef int64_t skip_headers(const uint8_t* data, int64_t position, int64_t end) noexcept
