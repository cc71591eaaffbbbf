# C types of produce_frame.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.broker.requests._produce cimport AppendOutcome
from moldau.records.memory cimport (
    ascii_at, int16_at, int32_at, put_ascii, put_int16, put_int32, put_int64, start_of, writable,
)

cdef int64_t VERSION_MIN, VERSION_MAX, LOG_START_FROM, RECORD_ERRORS_FROM, FLEXIBLE_FROM
cdef int64_t PARTITIONS_MAX, NULL_SIZE, BROKEN


@cython.final
cdef class RequestFrame:
    cdef readonly int64_t version, correlation_id, acks, timeout_ms
    cdef readonly str client_id, transactional_id
    cdef readonly list partitions
    cdef int64_t position, end

    @cython.locals(data="const uint8_t*", version=int64_t, size=int64_t)
    cpdef bint read(self, frame) except -1

    @cython.locals(topic_count=int64_t, count=int64_t, _=int64_t)
    cdef bint read_topics(self, frame, const uint8_t* data) except -1

    @cython.locals(index=int64_t, size=int64_t)
    cdef bint read_partition(self, frame, const uint8_t* data, str name) except -1

    cdef bint skip_tags(self, const uint8_t* data) noexcept

    cdef int64_t count(self, const uint8_t* data) noexcept

    cdef int64_t size_of_text(self, const uint8_t* data) noexcept

    @cython.locals(number=int64_t, shift=int64_t, byte=int64_t)
    cdef int64_t unsigned(self, const uint8_t* data) noexcept

    @cython.locals(start=int64_t, position=int64_t)
    cdef str text(self, const uint8_t* data, int64_t size)


cdef int64_t unsigned_size(int64_t number) noexcept

cdef int64_t put_unsigned(uint8_t* data, int64_t position, int64_t number) noexcept

cdef int64_t put_count(
    uint8_t* data, int64_t position, int64_t count, bint is_flexible) noexcept

@cython.locals(is_flexible=bint, partition_size=int64_t, size=int64_t, outcomes=list, name=str)
cdef int64_t size_of_answer(list topics, int64_t version) except -1

@cython.locals(
    is_flexible=bint, frame=bytearray, data="uint8_t*", position=int64_t, size=int64_t,
    outcomes=list, outcome=AppendOutcome, name=str)
cpdef bytearray encode(
    list topics, int64_t version, int64_t correlation_id, int64_t throttle_ms)
