# C types of reads.py; every name here is a class there.

cimport cython


@cython.final
cdef class PartitionRead:
    cdef public object key, name, want, error, partition, aborted, diverging, records
    cdef public object preferred_replica, high_watermark, last_stable_offset, log_start_offset


@cython.final
cdef class PartitionReader:
    cdef object _replicas, _terms, _remaining, _at_least_one

    cpdef read(self, PartitionRead read)
    cdef _read(self, PartitionRead read, partition)
