# C types of produce.py; every name here is a class or function there.

cimport cython
from libc.stdint cimport int64_t

from moldau.broker.fast._produce_frame cimport RequestFrame, encode
from moldau.broker.quotas._client_sensors cimport ClientSensors, charge, sensors_of
from moldau.broker.requests._produce cimport Produce

cdef int64_t NS_PER_MS


@cython.final
cdef class FastProduce:
    cdef readonly object broker, quotas, times, turns
    cdef readonly RequestFrame request
    cdef dict counters

    @cython.locals(
        request=RequestFrame, version=int64_t, produce=Produce, index=int64_t,
        throttle_ms=int64_t, sensors=ClientSensors)
    cpdef respond(self, client, frame)

    @cython.locals(now_ms=int64_t, wait_ms=int64_t, throttle_ms=int64_t)
    cpdef int64_t throttle(
        self, Produce produce, client, ClientSensors sensors, int64_t spent_ns, int64_t now_ns
    ) except -1

    @cython.locals(request=RequestFrame)
    cdef context_of(self, client)


cdef list parts(
    Produce produce, int64_t version, int64_t correlation_id, int64_t throttle_ms)
