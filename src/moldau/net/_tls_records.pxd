# C types of tls_records.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.records.memory cimport start_of

cdef int64_t HEAD_BYTES, FIRST_KIND, LAST_KIND, CONTENT_MAX_BYTES, UNKNOWN


@cython.final
cdef class ArrivedRecords:
    cdef public int64_t whole
    cdef int64_t _head, _head_bytes, _missing_bytes
    cdef bint _is_lost

    @cython.locals(source="const uint8_t*", position=int64_t, step=int64_t)
    cpdef came(self, data, int64_t size)

    @cython.locals(kind=int64_t, length=int64_t)
    cdef _take_head(self, int64_t byte)
