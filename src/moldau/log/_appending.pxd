# C types of appending.py; every name here is a class or function there.

cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class Appended:
    cdef readonly int64_t first_offset, last_offset, max_timestamp
    cdef readonly bint is_duplicate, has_rolled


@cython.locals(
    offset=int64_t, last_offset=int64_t, max_timestamp=int64_t, has_rolled=bint)
cpdef Appended append_batch(log, data, header, leader_epoch, int64_t now_ms)

cdef bint _write_each(log, data, batches, int64_t now_ms) except -1

cdef _write(log, data, batches, headers)

@cython.locals(filled=int64_t)
cdef bint _must_roll(
    log, int64_t size, int64_t last_offset, int64_t max_timestamp, int64_t now_ms) except -1
