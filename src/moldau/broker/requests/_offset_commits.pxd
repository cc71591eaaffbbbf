# C types of offset_commits.py; every name here is a class or method there.

cimport cython

from moldau.records.memory cimport item


@cython.final
cdef class OffsetCommit:
    cdef readonly object client
    cdef readonly dict offsets
    cdef readonly dict errors
    cdef object _broker, _group_id, _identity, _topics, _topic, _partitions
    cdef object _now_ms, _expire_timestamp
    cdef dict _denied

    @cython.locals(fields=tuple)
    cpdef add(self, partition, offset, leader_epoch, metadata, timestamp=*)
