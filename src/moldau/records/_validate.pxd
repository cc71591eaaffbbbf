# C types of validate.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.records.memory cimport address, int32_at


@cython.final
cdef class ValidBatch:
    cdef readonly object data, header, log_append_time_ms
    cdef readonly bint is_rebuilt


@cython.locals(size=int64_t, data="const uint8_t*")
cdef bint _is_one_batch(const uint8_t[::1] records) except -1

cdef _check_request(records, first, request_version)

cdef _require_single(records, size)

@cython.locals(size=int64_t, attributes=int64_t, record_count=int64_t)
cdef _read_sound_header(batch, rules)

@cython.locals(codec=int64_t)
cdef bint _must_recompress(batch, header, rules) except -1

cdef _recompress(header, section, rules)

cdef _check_size(int64_t size, rules)


@cython.final
cdef class _Validation:
    cdef object rules, now_ms, opening

    cdef batch(self, batch)

    cdef section(self, batch, header, section)

    @cython.locals(claims_log_append_time=bint, may_be_out_of_range=bint)
    cdef max_timestamp(self, section, header)

    cdef refuse_records(self, section, header, bint claims_log_append_time)

    cdef accept(self, data, header, bint is_rebuilt)
