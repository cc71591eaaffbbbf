# C types of opening.py; every name here is a class there.

cimport cython


@cython.final
cdef class Opening:
    cdef readonly object scratch
    cdef readonly object left_bytes

    cpdef look_at(self, size)
