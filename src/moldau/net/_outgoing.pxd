# C types of outgoing.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class OutgoingAnswers:
    cdef list _parts
    cdef object _transport
    cdef int64_t _sendfile_min
    cdef bint _is_asyncio
    cdef readonly bint is_sending_file

    cpdef attach(self, transport)
    cpdef forget(self)
    cpdef add(self, part)
    cpdef bint take(self, list parts) except -1
    cpdef flush(self, bint is_file_next=*)
    cpdef list send_at_once(self, list parts)
