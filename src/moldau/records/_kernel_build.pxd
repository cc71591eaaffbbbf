# C types of kernel_build.py; see _kernel.pxd.

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from moldau.records.memory cimport (
    address, copy_bytes, copy_object, difference_of_int64, uninitialised_bytes,
)
from moldau.records.murmur cimport murmur2_at

cdef int64_t HEADER_SIZE, MEMORY_MIN, NO_ROOM, BATCH_FULL


@cython.final
cdef class BinaryInput:
    cdef const int32_t[::1] offsets
    cdef const uint8_t[::1] view, validity
    cdef const uint8_t* data
    cdef int64_t data_size, rows, start_bit
    cdef bint has_validity

    @cython.locals(bit=int64_t, start=int64_t, end=int64_t)
    cdef inline int64_t size(self, int64_t row) except -2


@cython.final
cdef class HeadersInput:
    cdef const int32_t[::1] offsets
    cdef BinaryInput keys, values

    @cython.locals(start=int64_t, end=int64_t)
    cdef int64_t count(self, int64_t row) except -1

    @cython.locals(count=int64_t, size=int64_t, index=int64_t, key_size=int64_t)
    cdef int64_t size(self, int64_t row) except -1


@cython.final
cdef class RecordWriter:
    cdef const int64_t[::1] timestamps
    cdef BinaryInput keys, values
    cdef HeadersInput headers
    cdef const int32_t[::1] order
    cdef bint has_order
    cdef int64_t row_count
    cdef readonly int64_t row, base_timestamp, max_timestamp

    @cython.locals(
        first_row=int64_t, timestamp=int64_t, timestamp_delta=int64_t, body_size=int64_t,
        end=int64_t, row=int64_t,
    )
    cpdef int64_t write(self, uint8_t[::1] output, int64_t position, int64_t limit) except -1

    @cython.locals(key_size=int64_t, value_size=int64_t, size=int64_t)
    cdef inline int64_t body_size(
        self, int64_t row, int64_t timestamp_delta, int64_t offset_delta) except -1

    @cython.locals(row=int64_t)
    cdef inline int64_t row_at(self, int64_t index) except -1

    @cython.locals(headers=HeadersInput, count=int64_t, index=int64_t)
    cdef int64_t write_headers(
        self, uint8_t[::1] output, int64_t position, int64_t row) except -1


@cython.locals(partition_count=int64_t, total=int64_t, partition=int64_t)
cpdef int order_by_partition(
    BinaryInput keys, int64_t null_partition, int32_t[::1] order, int32_t[::1] starts) except -1

@cython.locals(
    partition_count=int64_t, row=int64_t, size=int64_t, partition=int64_t, hashed=int64_t)
cdef int partition_of_rows(
    BinaryInput keys, int64_t null_partition, int32_t[::1] chosen, int32_t[::1] counts
) except -1

@cython.locals(row=int64_t, partition=int64_t)
cdef int place_rows(
    int32_t[::1] chosen, int32_t[::1] order, int32_t[::1] starts) except -1


@cython.final
cdef class RecordBuffer:
    cdef int64_t size_max
    cdef public object owner
    cdef bytearray memory
    cdef uint8_t[::1] output
    cdef readonly int64_t size, count, base_timestamp, max_timestamp

    @cython.locals(
        encoded_headers=bytes, key_size=int64_t, value_size=int64_t, timestamp_delta=int64_t,
        body_size=int64_t, size=int64_t, position=int64_t,
    )
    cpdef int64_t append(
        self, int64_t timestamp, bytes key, bytes value, headers, int64_t room) except -2

    @cython.locals(before=bytearray, source="const uint8_t*")
    cdef int enlarge(self, int64_t size) except -1


cdef bytes encode_headers(headers)

@cython.locals(rest=uint64_t)
cdef bytes encode_number(int64_t value)

cdef inline int64_t write_bytes(
    uint8_t[::1] output, int64_t position, bytes source, int64_t size) noexcept

@cython.locals(size=int64_t)
cdef inline int64_t write_field(
    uint8_t[::1] output, int64_t position, BinaryInput column, int64_t row) except -1

@cython.locals(rest=uint64_t)
cdef inline int64_t write_varint(uint8_t[::1] output, int64_t position, int64_t value) noexcept

@cython.locals(rest=uint64_t, size=int64_t)
cdef inline int64_t size_of_varint(int64_t value) noexcept

cdef inline int64_t size_of_field(int64_t size) noexcept
