# C types of produce.py; every name here is a class or function there.

cimport cython


@cython.final
cdef class Produce:
    cdef object _acks, _broker, _context, _opening, _request
    cdef readonly object response
    cdef readonly bint has_failed
    cdef readonly list waiting

    cpdef settle(self, waiting, error)

    cdef _append(self, name, records, response)

    cdef _fail(self, topic, response, error)

    cdef _append_valid(self, partition, valid, response, guard)


cpdef bint takes_long(records, rules) except -1

cpdef new_response(index)

cpdef refuse(response, error)
