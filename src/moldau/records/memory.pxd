# The compiled form of memory.py. Nothing here checks a bound: kernels do, before they call.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.tuple cimport PyTuple_GET_ITEM
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeASCII
from libc.stdint cimport (
    INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy


cdef inline const uint8_t* address(const uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline const uint8_t* start_of(object view) except? NULL:
    cdef Py_buffer buffer
    PyObject_GetBuffer(view, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    return <const uint8_t*>buffer.buf


cdef inline uint8_t* writable(bytearray target) noexcept:
    return <uint8_t*>PyByteArray_AS_STRING(target)


cdef inline uint8_t* writable_view(uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline void copy(
    uint8_t* target, int64_t target_position, const uint8_t* source, int64_t start, int64_t end
) noexcept nogil:
    memcpy(target + target_position, source + start, end - start)


cdef inline void copy_bytes(
    uint8_t[::1] target,
    int64_t target_position,
    const uint8_t* source,
    int64_t position,
    int64_t size,
) noexcept:
    memcpy(&target[target_position], source + position, size)


cdef inline void copy_object(
    uint8_t[::1] target, int64_t target_position, bytes source, int64_t size
) noexcept:
    memcpy(&target[target_position], <const char*>source, size)


cdef inline bytes take_bytes(const uint8_t* source, int64_t position, int64_t size):
    return PyBytes_FromStringAndSize(<const char*>source + position, size)


cdef inline object item(object record, Py_ssize_t index):
    return <object>PyTuple_GET_ITEM(record, index)


cdef inline str ascii_at(const uint8_t* source, int64_t position, int64_t size):
    return PyUnicode_DecodeASCII(<const char*>source + position, size, NULL)


cdef inline int64_t put_ascii(uint8_t* target, int64_t position, str text) except -1:
    cdef Py_ssize_t size
    cdef const char* source = PyUnicode_AsUTF8AndSize(text, &size)
    memcpy(target + position, source, size)
    return position + size


cdef inline int64_t int16_at(const uint8_t* source, int64_t position) noexcept nogil:
    source += position
    return <int16_t>(<uint16_t>source[0] << 8 | <uint16_t>source[1])


cdef inline int64_t int32_at(const uint8_t* source, int64_t position) noexcept nogil:
    source += position
    return <int32_t>(
        <uint32_t>source[0] << 24 | <uint32_t>source[1] << 16
        | <uint32_t>source[2] << 8 | <uint32_t>source[3])


cdef inline int64_t int64_at(const uint8_t* source, int64_t position) noexcept nogil:
    cdef uint64_t high = <uint32_t>int32_at(source, position)
    return <int64_t>(high << 32 | <uint32_t>int32_at(source, position + 4))


cdef inline void put_int16(uint8_t* target, int64_t position, int64_t value) noexcept nogil:
    target += position
    target[0] = <uint8_t>(value >> 8)
    target[1] = <uint8_t>value


cdef inline void put_int32(uint8_t* target, int64_t position, int64_t value) noexcept nogil:
    target += position
    target[0] = <uint8_t>(value >> 24)
    target[1] = <uint8_t>(value >> 16)
    target[2] = <uint8_t>(value >> 8)
    target[3] = <uint8_t>value


cdef inline void put_int64(uint8_t* target, int64_t position, int64_t value) noexcept nogil:
    put_int32(target, position, value >> 32)
    put_int32(target, position + 4, value)


cdef inline (int64_t, int64_t) varint_at(
    const uint8_t* source, int64_t position, int64_t end
) noexcept nogil:
    cdef uint64_t value = 0
    cdef uint64_t bits
    cdef int shift = 0
    while position < end and shift < 64:
        bits = source[position]
        position += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            return <int64_t>(value >> 1) ^ -<int64_t>(value & 1), position
        shift += 7
    return 0, end + 1


cdef inline int64_t sum_of_int64(int64_t left, int64_t right) noexcept:
    return <int64_t>(<uint64_t>left + <uint64_t>right)


cdef inline int64_t difference_of_int64(int64_t left, int64_t right) noexcept:
    return <int64_t>(<uint64_t>left - <uint64_t>right)


cdef inline int64_t bounded_sum(int64_t left, int64_t right) noexcept:
    cdef int64_t result = <int64_t>(<uint64_t>left + <uint64_t>right)
    # It has run over if both numbers have the other sign.
    if ((left ^ result) & (right ^ result)) < 0:
        return INT64_MIN if left < 0 else INT64_MAX
    return result


cdef inline int64_t bounded_difference(int64_t left, int64_t right) noexcept:
    cdef int64_t result = <int64_t>(<uint64_t>left - <uint64_t>right)
    if ((left ^ right) & (left ^ result)) < 0:
        return INT64_MIN if left < 0 else INT64_MAX
    return result


cdef inline bytearray uninitialised_bytes(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)


ctypedef uint32_t (*checksum_pointer)(uint32_t crc, const uint8_t* data, size_t size) noexcept


cdef inline checksum_pointer checksum_function() except NULL:
    from moldau.records import _crc32c
    return <checksum_pointer>PyCapsule_GetPointer(
        _crc32c.update, "moldau.records._crc32c.update")


cdef inline int64_t checksum_of(
    checksum_pointer function, const uint8_t* source, int64_t position, int64_t size
) noexcept:
    return <uint32_t>~function(0xFFFFFFFF, source + position, size)
