# C types of produce.py; every name here is a class or function there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.records.memory cimport start_of

cdef int64_t CONVERTED_ON_LOOP_BYTES, COMPRESSED_ON_LOOP_BYTES, UNCOMPRESSED, GZIP
cdef int64_t MAGIC_AT, BATCH_MAGIC, CODEC_BITS, CODEC_AT, OLD_CODEC_AT


@cython.final
cdef class AppendOutcome:
    cdef readonly int64_t index
    cdef public object error
    cdef readonly int64_t base_offset, log_append_time_ms, log_start_offset


@cython.final
cdef class Produce:
    cdef object _broker, _context, _opening, _transactional_id
    cdef int64_t _acks, _timeout_ms
    cdef str _topic
    cdef list _outcomes
    cdef readonly list topics
    cdef readonly bint has_failed
    cdef bint _is_denied
    cdef public int64_t request_size
    cdef readonly list waiting

    cpdef require_right(self, all_records)

    cpdef begin_topic(self, str name)

    @cython.locals(outcome=AppendOutcome)
    cpdef append(self, int64_t index, records)

    cpdef settle(self, waiting, error)

    cpdef int64_t throttle_ms(self) except -1

    cdef _append(self, records, AppendOutcome outcome)

    cdef _fail(self, topic, outcome, error)

    cdef _append_valid(self, partition, valid, AppendOutcome outcome, now_ms, guard)


@cython.locals(data="const uint8_t*")
cpdef bint is_transactional(records) except -1

@cython.locals(data="const uint8_t*", size=int64_t, codec=int64_t, is_large=bint)
cpdef bint takes_long(records, rules) except -1
