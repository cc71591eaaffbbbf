# C types of json_structs.py; every name here is a class or method there.

cimport cython


@cython.final
cdef class FieldWriter:
    cdef readonly str name
    cdef readonly str default
    cdef object inner
    cdef StructWriter struct


@cython.final
cdef class StructWriter:
    cdef list fields
    cdef list starts
    cdef object last
    cdef str last_text

    @cython.locals(parts=list)
    cpdef str text(self, value)

    @cython.locals(own=list)
    cpdef add(self, value, list parts)

    @cython.locals(at=cython.Py_ssize_t, field=FieldWriter)
    cpdef add_fields(self, dict value, list parts)
