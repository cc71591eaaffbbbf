# C types of fetch.py; every name here is a class or function there.

cimport cython

from moldau.broker.quotas._client_sensors cimport ClientSensors, charge, sensors_of
from moldau.broker.requests._reads cimport PartitionRead, PartitionReader


@cython.final
cdef class FetchOperation:
    cdef readonly object broker, request
    cdef object _changed, _fetch, _nearest, _session, _terms, _timer, _watch
    cdef dict _reads
    cdef tuple _watched
    cdef bint _is_look_due, _is_time_up
    cdef long _min_bytes
    cdef readonly long throttle_ms
    cdef ClientSensors _sensors
    cdef long _answered_ms

    @cython.locals(read=PartitionRead, reader=PartitionReader)
    cpdef bint start(self) except -1

    @cython.locals(read=PartitionRead, reader=PartitionReader)
    cpdef bint look(self) except -1

    cpdef list outcomes(self)
    cdef _read_first(self, PartitionReader reader, PartitionRead read)
    cdef _renew(self)
    cdef bint _end_read(self) except -1

    @cython.locals(read=PartitionRead, size=long)
    cdef bint _must_wait(self) except -1

    @cython.locals(allowed=long)
    cdef long _allowed(self, long max_bytes) except -1

    @cython.locals(read=PartitionRead, size=long)
    cdef bint _must_throttle(self, bint has_waited) except -1

    cpdef long charge(self, long spent_ns) except -1

    cdef _note_sent(self)
    cdef _settle(self, PartitionRead read)
    cdef list _selected(self)
