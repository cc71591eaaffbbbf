# C types of offset_commit.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.broker.requests._offset_commits cimport OffsetCommit
from moldau.records.memory cimport (
    address, copy, int16_at, int32_at, int64_at, put_int16, put_int32, writable,
)

cdef int64_t API_KEY, VERSION_MIN, VERSION_MAX, INSTANCE_FROM, FLEXIBLE_FROM, FRAME_SIZE_MAX
cdef int64_t NULL, WRONG


@cython.locals(data="uint8_t*", position=int64_t)
cdef write_errors(bytearray answer, list places, dict errors)


@cython.final
cdef class FastOffsetCommit:
    cdef object broker, quotas, times
    cdef dict counters
    cdef bytearray answer
    cdef list places
    cdef bint is_flexible
    cdef int64_t version, correlation_id, position, end, group, group_size, generation
    cdef int64_t member, member_size, instance, instance_size, answer_end, client_end

    @cython.locals(client_end=int64_t)
    cpdef respond(self, client, frame)

    cpdef throttle(self, bytearray answer, tuple use)

    cdef read_commit(self, client, frame)

    @cython.locals(data="const uint8_t*", end=int64_t, version=int64_t)
    cdef bint read_start(self, const uint8_t[::1] frame) noexcept

    @cython.locals(size=int64_t, position=int64_t)
    cdef int64_t skip_client(self, const uint8_t* data) noexcept

    @cython.locals(size=int64_t)
    cdef int64_t read_text(self, const uint8_t* data) noexcept

    @cython.locals(size=int64_t, position=int64_t)
    cdef int64_t read_size(self, const uint8_t* data, int64_t width) noexcept

    cdef int64_t skip_tags(self, const uint8_t* data) noexcept

    @cython.locals(
        data="const uint8_t*", topic_count=int64_t, before=int64_t, size=int64_t, _=int64_t)
    cdef bint read_topics(self, frame, OffsetCommit commit) except -1

    @cython.locals(
        data="const uint8_t*", before=int64_t, partition_count=int64_t, position=int64_t,
        size=int64_t, index=int64_t, offset=int64_t, _=int64_t)
    cdef bint read_partitions(self, frame, str name, OffsetCommit commit) except -1

    @cython.locals(start=int64_t, before=int64_t, topic_count=int64_t)
    cdef int64_t begin_answer(self, const uint8_t* data) except -3

    cdef void reply(self, const uint8_t* data, int64_t start, int64_t end) noexcept

    cdef reply_partition(self, partition, int64_t index)

    cdef void reply_tags(self) noexcept

    @cython.locals(answer="uint8_t*")
    cdef end_answer(self)
