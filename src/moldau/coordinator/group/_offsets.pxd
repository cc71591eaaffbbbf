# C types of offsets.py; every name here is a class or method there.

cimport cython
from libc.stdint cimport int64_t

from moldau.records.memory cimport item


cdef class Offsets:
    cdef readonly dict committed
    cdef readonly dict open

    @cython.locals(committed=dict, count=int64_t, fields=tuple)
    cpdef int64_t store(self, records, offset_record, int64_t log_offset) except -1
