# C types of validate.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.records.memory cimport (
    bounded_difference, bounded_sum, checksum_function, checksum_of, checksum_pointer,
    int16_at, int32_at, int64_at, start_of,
)

cdef checksum_pointer CHECKSUM
cdef int64_t HEADER_SIZE, BATCH_MAGIC, CODEC_BITS, CONTROL_BIT, LOG_APPEND_TIME_BIT
cdef int64_t UNCOMPRESSED, LZ4, ZSTD, NO_PRODUCER, NO_TIME


@cython.final
cdef class ValidBatch:
    cdef readonly object data, header, log_append_time_ms
    cdef readonly bint is_rebuilt


@cython.locals(size=int64_t, data="const uint8_t*")
cdef bint _is_one_batch(records) except -1

cdef _check_request(records, first, request_version)

cdef _require_single(records, size)

cdef _recompress(header, section, rules)


@cython.final
cdef class _Validation:
    cdef object rules, opening
    cdef int64_t now_ms, size, attributes, record_count, base_timestamp, claimed_timestamp

    cdef batch(self, batch)

    @cython.locals(
        data="const uint8_t*", size=int64_t, claimed=int64_t, attributes=int64_t,
        last_offset_delta=int64_t, record_count=int64_t, base_offset=int64_t,
        producer_id=int64_t, base_sequence=int64_t)
    cdef header(self, batch)

    @cython.locals(max_timestamp=int64_t, is_rebuilt=bint)
    cdef section(self, batch, header, section)

    @cython.locals(
        now_ms=int64_t, min_delta=int64_t, max_delta=int64_t, max_timestamp=int64_t,
        age_max_ms=int64_t, claims_log_append_time=bint, may_be_out_of_range=bint)
    cdef int64_t max_timestamp(self, section) except? -2

    cdef refuse_records(self, section)

    @cython.locals(codec=int64_t)
    cdef bint must_recompress(self, batch) except -1

    @cython.locals(size=int64_t)
    cdef accept(self, data, header, bint is_rebuilt)

    cdef check_size(self, int64_t size)
