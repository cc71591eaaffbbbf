# C types of client_sensors.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t

from moldau.broker.quotas._rates cimport Sensor

cdef double PERCENT_PER_NS
cdef int64_t BYTES_MAX


@cython.final
cdef class ClientSensors:
    cdef readonly object principal, generation
    cdef readonly str client_id
    cdef readonly Sensor produce, fetch, request
    cdef double _burst_s
    cdef int64_t _longest_ms

    @cython.locals(sensor=Sensor)
    cpdef int64_t produced(self, int64_t size, int64_t now_ms) except -1

    @cython.locals(sensor=Sensor, was_silent=bint, throttle_ms=int64_t)
    cpdef int64_t fetched(self, int64_t size, int64_t now_ms) except -1

    @cython.locals(sensor=Sensor, allowed=double)
    cpdef int64_t fetch_bytes_max(self) except -1

    @cython.locals(sensor=Sensor, own_ms=int64_t)
    cpdef int64_t spent(self, int64_t spent_ns, int64_t now_ms, int64_t throttle_ms) except -1


@cython.locals(known=ClientSensors)
cpdef ClientSensors sensors_of(quotas, client, str client_id)

cpdef int64_t charge(
    client, ClientSensors sensors, int64_t spent_ns, int64_t now_ms, int64_t throttle_ms
) except -1
