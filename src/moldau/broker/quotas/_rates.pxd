# C types of rates.py; every name here is a class or method there.

cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class SampledRate:
    cdef int64_t _began_ms, _first_began_ms, _first_last_ms, _kept_ms, _last_ms, _size_ms
    cdef double _over_value, _value
    cdef list _over

    cpdef record(self, double value, int64_t now_ms)

    @cython.locals(oldest_ms=int64_t, elapsed_ms=int64_t, missing_ms=int64_t)
    cpdef int64_t span_ms(self, int64_t now_ms) except -1

    @cython.locals(span_ms=int64_t)
    cpdef double per_second(self, int64_t now_ms) except? -1

    @cython.locals(span_ms=int64_t, rate=double)
    cpdef int64_t wait_ms(self, double quota, int64_t now_ms) except -1

    @cython.locals(over=list)
    cdef int64_t _drop_old(self, int64_t now_ms) except? -1


@cython.final
cdef class Sensor:
    cdef public double quota
    cdef readonly SampledRate rate
    cdef public int64_t used_ms
    cdef readonly int64_t last_throttle_ms, last_throttled_ms

    @cython.locals(throttle_ms=int64_t)
    cpdef int64_t record(self, double value, int64_t now_ms) except -1

    cpdef take_back(self, double value, int64_t now_ms)
