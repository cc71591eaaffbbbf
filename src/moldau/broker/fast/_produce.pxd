# C types of produce.py; every name here is a class, function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.log.words cimport read_int16, read_int32, read_int64, write_int32, write_int64
from moldau.records._kernel cimport RecordCursor
from moldau.records.memory cimport (
    address, checksum_function, checksum_of, checksum_pointer, writable,
)

cdef checksum_pointer CHECKSUM
cdef int64_t VERSION_MIN, VERSION_MAX, FLEXIBLE_FROM, ZSTD_FROM, HEADER_SIZE, MAGIC
cdef int64_t NONE, SNAPPY, LZ4, ZSTD, ALL_IN_SYNC


@cython.locals(position=int64_t)
cdef bint is_ascii(const uint8_t* data, int64_t start, int64_t end) noexcept


@cython.final
cdef class Template:
    cdef bytes frame
    cdef int64_t position


@cython.final
cdef class Express:
    cdef readonly object broker, times
    cdef dict counters, templates
    cdef RecordCursor cursor
    cdef int64_t version, correlation_id, acks, timeout_ms, topic, topic_size, index, records, size
    cdef int64_t record_count, codec, base_timestamp, claimed_timestamp
    cdef int64_t min_timestamp, max_timestamp
    cdef bint has_null_key

    cpdef respond(self, client, frame)

    @cython.locals(
        data="const uint8_t*", end=int64_t, version=int64_t, client_size=int64_t, position=int64_t)
    cdef bint read_request(self, const uint8_t[::1] frame) noexcept

    cdef int64_t read_acks(self, const uint8_t* data, int64_t position) noexcept

    cdef bint read_partition(self, const uint8_t* data, int64_t position, int64_t end) noexcept

    @cython.locals(size=int64_t, shift=int64_t, byte=int64_t)
    cdef bint read_compact_partition(
        self, const uint8_t* data, int64_t position, int64_t end) noexcept

    @cython.locals(
        data="const uint8_t*", start=int64_t, codec=int64_t, claimed=int64_t, checksum=int64_t)
    cdef bint read_header(self, const uint8_t[::1] frame) except -1

    @cython.locals(start=int64_t, end=int64_t)
    cdef bint is_sound(self, frame, rules) except -1

    cdef bint read_opened(self, const uint8_t[::1] section) except -1

    @cython.locals(
        cursor=RecordCursor, min_delta=int64_t, max_delta=int64_t, index=int64_t, base=int64_t)
    cdef bint read_records(self, const uint8_t* data, int64_t start, int64_t end) except -1

    @cython.locals(data="const uint8_t*", start=int64_t)
    cdef header(self, const uint8_t[::1] frame)

    cdef bint is_allowed(self, partition, int64_t now_ms) except -1

    cdef count(self, of_topic, of_all)

    @cython.locals(template=Template, data="uint8_t*", position=int64_t, frame=bytearray)
    cdef bytearray answer(self, str name, appended, log_start_offset)
