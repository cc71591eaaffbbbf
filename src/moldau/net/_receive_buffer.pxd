# C types of receive_buffer.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t

from moldau.records.memory cimport int32_at, writable


@cython.final
cdef class ReceiveBuffer:
    cdef public int64_t start, end
    cdef readonly int64_t size
    cdef int64_t _capacity, _size_max
    cdef bytearray _bytes
    cdef object _view

    cpdef free(self)
    cpdef int64_t int_at(self, int64_t position) except? -1

    @cython.locals(start=int64_t)
    cpdef take(self, int64_t offset, int64_t size)

    cpdef bint must_grow(self) except -1

    @cython.locals(waiting=int64_t)
    cpdef make_room(self)

    cpdef shrink(self)
    cpdef forget(self)
    cdef _replace(self, int64_t size)
