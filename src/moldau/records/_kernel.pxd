# C types of kernel.py; every name here is a function or variable there. Cython warns about
# `inline` on declarations, but heeds it, and setup.py has the compiler heed it too.

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from moldau.records.memory cimport (
    address, checksum_function, checksum_of, checksum_pointer, copy_bytes, int32_at, int64_at,
    start_of, sum_of_int64, take_bytes, uninitialised_bytes,
)

cdef checksum_pointer CHECKSUM
cdef int64_t HEADER_SIZE, RECORD_SIZE_MIN, OFFSET_MAX, TURN_RECORDS
cdef int64_t CODEC, LOG_APPEND_TIME, TRANSACTION, SPECIAL


@cython.locals(
    cursor=RecordCursor, min_timestamp_delta=int64_t, max_timestamp_delta=int64_t,
    offset_delta_of_max=int64_t, any_null_key=bint, index=int64_t,
)
cpdef tuple check_records(body, int64_t record_count)


@cython.locals(cursor=RecordCursor, count=int64_t)
cpdef find_timestamp(body, int64_t record_count, int64_t timestamp_delta, int64_t offset_delta)


@cython.final
cdef class BatchRun:
    cdef readonly int64_t position, end, batch_count, row_count_max, size, next_offset, codec
    cdef int64_t record_count
    cdef readonly object body

    cpdef decompress_to(self, body)


@cython.final
cdef class RunFinder:
    cdef const uint8_t[::1] view
    cdef const uint8_t* fetched
    cdef int64_t start_offset, end_offset
    cdef bint checks_crc
    cdef int64_t size, attributes, record_count, base_offset, next_offset

    @cython.locals(run=BatchRun)
    cpdef BatchRun find(self, int64_t position, int64_t size_max)

    @cython.locals(position=int64_t, next_offset=int64_t)
    cpdef int64_t next_offset_after_all(self)

    @cython.locals(run=BatchRun)
    cpdef BatchRun find_one(self, int64_t position, bint is_readable)

    cdef int append(self, BatchRun run, bint is_readable) except -1

    @cython.locals(data="const uint8_t*", last_offset_delta=int64_t)
    cdef bint read_header(self, int64_t position) noexcept


@cython.locals(size=int64_t)
cdef int64_t size_of_batch(const uint8_t* data, int64_t position, int64_t end) noexcept

cdef int64_t row_count_max(int64_t record_count, int64_t size) noexcept

cdef int check_crc(const uint8_t* data, int64_t position, int64_t size) except -1


@cython.final
cdef class RecordCursor:
    cdef object view, body
    cdef const uint8_t* fetched
    cdef const uint8_t* data
    cdef bint checks_crc, is_decompressed
    cdef int64_t batch_position, run_end
    cdef int64_t position, end, index, record_count
    cdef int64_t timestamp_delta, offset_delta
    cdef int64_t key_position, key_size, value_position, value_size
    cdef int64_t header_count, headers_position
    cdef int64_t base_offset, last_offset_delta, base_timestamp, max_timestamp
    cdef bint is_log_append_time
    cdef int64_t start_offset, end_offset, offset, timestamp

    cpdef enter(self, BatchRun run)

    @cython.locals(
        data="const uint8_t*", position=int64_t, size=int64_t, record_count=int64_t)
    cdef int next_batch(self) except -1

    cdef int start(self, int64_t position, int64_t end, int64_t record_count) except -1

    cdef inline int advance_selected(self) except -1

    @cython.locals(data="const uint8_t*", size=int64_t, position=int64_t, end=int64_t)
    cdef inline int advance(self) except -1


@cython.locals(low=int64_t, high=int64_t)
cdef inline (int64_t, int64_t) read_varint(
    const uint8_t* data, int64_t position, int64_t end) noexcept

@cython.locals(low=int64_t, high=int64_t)
cdef inline (int64_t, int64_t) read_varlong(
    const uint8_t* data, int64_t position, int64_t end) noexcept

@cython.locals(value=uint64_t, shift=int64_t, byte=uint64_t)
cdef (int64_t, int64_t) read_number(
    const uint8_t* data, int64_t position, int64_t end, int64_t width) noexcept

@cython.locals(size=int64_t)
cdef int64_t skip_headers(
    const uint8_t* data, int64_t position, int64_t end, int64_t count) noexcept


@cython.final
cdef class BinaryOutput:
    cdef int32_t[::1] offsets
    cdef uint8_t[::1] data, validity
    cdef readonly object data_view
    cdef object all_data
    cdef readonly int64_t rows, data_size, null_count

    cdef bint has_room(self, int64_t rows)

    @cython.locals(row=int64_t, bit=int64_t)
    cdef inline int append(
        self, const uint8_t* source, int64_t position, int64_t size) except -1

    cdef int enlarge(self, int64_t size) except -1


@cython.final
cdef class RowsOutput:
    cdef int64_t[::1] offsets, timestamps
    cdef int8_t[::1] timestamp_types
    cdef BinaryOutput keys, values
    cdef readonly int64_t rows, header_count, header_bytes

    cpdef append(self, RecordCursor cursor)

    @cython.locals(keys=BinaryOutput, values=BinaryOutput, count=int64_t)
    cdef int append_batch(self, RecordCursor cursor) except -1


@cython.final
cdef class HeadersOutput:
    cdef int32_t[::1] offsets
    cdef BinaryOutput keys, values
    cdef readonly int64_t rows

    cpdef append(self, RecordCursor cursor)

    @cython.locals(data="const uint8_t*", position=int64_t, index=int64_t, size=int64_t)
    cdef int append_headers(self, RecordCursor cursor) except -1


@cython.final
@cython.freelist(64)
@cython.no_gc
cdef class Row:
    cdef readonly int64_t offset, timestamp
    cdef readonly object key, value, headers


@cython.final
cdef class RowReader:
    cdef RecordCursor cursor
    cdef object runs


@cython.locals(row=Row)
cdef Row read_row(RecordCursor cursor)

@cython.locals(data="const uint8_t*", position=int64_t, index=int64_t, size=int64_t, headers=list)
cdef tuple read_headers(RecordCursor cursor)


@cython.final
@cython.freelist(64)
@cython.no_gc
cdef class ConsumerRecord:
    cdef readonly object topic, key, value, headers
    cdef readonly int64_t partition, offset, timestamp


@cython.final
cdef class RecordReader:
    cdef RecordCursor cursor
    cdef object runs, topic, read_key, read_value, failure, corruption
    cdef int64_t partition
    cdef readonly int64_t position
    cdef readonly bint is_exhausted

    @cython.locals(record=ConsumerRecord, taken=list)
    cpdef list take(self, int64_t count)

    @cython.locals(cursor=RecordCursor)
    cdef ConsumerRecord next_record(self)

    @cython.locals(run=BatchRun)
    cdef int next_run(self) except -1

    @cython.locals(cursor=RecordCursor, record=ConsumerRecord)
    cdef inline ConsumerRecord read_record(self)


cdef tuple read_texts(RecordCursor cursor)


@cython.final
cdef class RecordIterator:
    cdef public object refill
    cdef readonly RecordReader reader
    cdef int64_t count

    cpdef ConsumerRecord take(self)
