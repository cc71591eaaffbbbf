# C types of fetch_answer.py; every name here is a class or function there.

cimport cython

from moldau.broker.requests._reads cimport PartitionRead

cdef long FLEXIBLE_FROM, RACK_FROM, TOPIC_IDS_SINCE


@cython.final
cdef class _Answer:
    cdef long _version, _size
    cdef bint _is_flexible
    cdef bytearray _current
    cdef list _parts

    cdef add_count(self, long count)

    @cython.locals(read=PartitionRead)
    cdef add_topic(self, list outcomes)

    @cython.locals(current=bytearray)
    cdef _add_partition(self, PartitionRead read)

    cdef list finish(self, correlation_id, session_id, throttle_ms)
