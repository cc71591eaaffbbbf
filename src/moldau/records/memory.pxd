# The compiled form of memory.py. Nothing here checks a bound: kernels do, before they call.

from cpython.bytearray cimport PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy


cdef inline const uint8_t* address(const uint8_t[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline void copy_bytes(
    uint8_t[::1] target,
    int64_t target_position,
    const uint8_t* source,
    int64_t position,
    int64_t size,
) noexcept:
    memcpy(&target[target_position], source + position, size)


cdef inline bytes take_bytes(const uint8_t* source, int64_t position, int64_t size):
    return PyBytes_FromStringAndSize(<const char*>source + position, size)


cdef inline int64_t sum_of_int64(int64_t left, int64_t right) noexcept:
    return <int64_t>(<uint64_t>left + <uint64_t>right)


cdef inline int64_t difference_of_int64(int64_t left, int64_t right) noexcept:
    return <int64_t>(<uint64_t>left - <uint64_t>right)


cdef inline bytearray uninitialised_bytes(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)
