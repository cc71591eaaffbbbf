# C types of intake.py; see records/_kernel.pxd.

cimport cython
from libc.stdint cimport int64_t

from moldau.records._kernel_build cimport RecordBuffer
from moldau.records.murmur cimport murmur2

cdef int64_t NO_PARTITION, NANOSECONDS_PER_MS


@cython.final
@cython.freelist(256)
@cython.no_gc
cdef class Receipt:
    cdef readonly object batch
    cdef readonly int64_t row, timestamp


@cython.final
cdef class OpenBuffers:
    cdef readonly int64_t partition_count
    cdef readonly list buffers
    cdef public int64_t sticky_partition


@cython.final
cdef class Intake:
    cdef int64_t size_max
    cdef object now_ns, acquire, release
    cdef public int64_t used_bytes
    cdef readonly dict topics

    @cython.locals(
        timestamp=int64_t, found=OpenBuffers, buffer=RecordBuffer, row=int64_t, room=int64_t,
        size=int64_t, receipt=Receipt, key_bytes=bytes, value_bytes=bytes,
    )
    cpdef append(self, topic, value, key, partition, timestamp_ms, headers)


cpdef bytes as_bytes(value)


cdef RecordBuffer open_buffer(OpenBuffers found, bytes key, int64_t partition)
