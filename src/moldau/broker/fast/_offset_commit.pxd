# C types of offset_commit.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.log.words cimport (
    copy, read_int16, read_int32, read_int64, write_int16, write_int32, write_int64,
)
from moldau.records.memory cimport (
    address, checksum_function, checksum_of, checksum_pointer, writable,
)

cdef checksum_pointer CHECKSUM
cdef int64_t API_KEY, VERSION_MIN, VERSION_MAX, INSTANCE_FROM, FLEXIBLE_FROM, FRAME_SIZE_MAX
cdef int64_t NAME_SIZE_MAX, PARTITION_SIZE_MIN, NULL, WRONG, HEADER_SIZE, VALUE_SIZE
cdef int64_t RECORD_SIZE_MAX, KEY_VERSION, VALUE_VERSION, MAGIC


cdef int64_t write_varint(uint8_t* data, int64_t position, int64_t value) noexcept

@cython.locals(size=int64_t)
cdef int64_t size_of_varint(int64_t value) noexcept


@cython.final
cdef class CommitExpress:
    cdef object broker, times
    cdef dict counters, offsets
    cdef bytearray batch, answer
    cdef bint is_flexible
    cdef int64_t version, correlation_id, position, end, group, group_size, generation
    cdef int64_t member, member_size, name, name_size, now_ms, count, batch_end, answer_end

    cpdef respond(self, client, frame)

    @cython.locals(log_offset=int64_t)
    cdef store(self, shard, dict stored)

    @cython.locals(data="const uint8_t*", end=int64_t, version=int64_t)
    cdef bint read_start(self, const uint8_t[::1] frame) noexcept

    @cython.locals(size=int64_t, position=int64_t)
    cdef int64_t skip_client(self, const uint8_t* data) noexcept

    @cython.locals(size=int64_t, start=int64_t, position=int64_t)
    cdef int64_t read_name(self, const uint8_t* data) noexcept

    @cython.locals(size=int64_t, position=int64_t)
    cdef int64_t read_size(self, const uint8_t* data, int64_t width) noexcept

    cdef int64_t skip_tags(self, const uint8_t* data) noexcept

    @cython.locals(data="const uint8_t*", topic_count=int64_t, before=int64_t, _=int64_t)
    cdef bint read_topics(self, frame) except -1

    @cython.locals(
        before=int64_t, partition_count=int64_t, position=int64_t, size=int64_t, index=int64_t,
        offset=int64_t, leader_epoch=int64_t, _=int64_t)
    cdef bint read_partitions(self, const uint8_t* data, str name, known) except -1

    cdef int64_t read_text_size(self, const uint8_t* data) noexcept

    @cython.locals(
        partitions_max=int64_t, names_max=int64_t, start=int64_t, before=int64_t,
        topic_count=int64_t)
    cdef int64_t begin(self, const uint8_t* data) except -3

    cdef void reply(self, const uint8_t* data, int64_t start, int64_t end) noexcept

    @cython.locals(answer="uint8_t*")
    cdef void reply_partition(self, int64_t index) noexcept

    cdef void reply_tags(self) noexcept

    @cython.locals(answer="uint8_t*")
    cdef end_answer(self)

    @cython.locals(batch="uint8_t*", key_size=int64_t, size=int64_t, position=int64_t)
    cdef void write_record(
        self, const uint8_t* data, int64_t index, int64_t offset, int64_t leader_epoch) noexcept

    @cython.locals(batch="uint8_t*", checksum=int64_t)
    cdef void finish_batch(self) noexcept
