# The compiled form of memory.py. Nothing here checks a bound: kernels do, before they call.

from libc.string cimport memcpy


cdef inline const unsigned char* address(const unsigned char[::1] view) noexcept:
    return &view[0] if view.shape[0] > 0 else NULL


cdef inline void copy_bytes(
    unsigned char* target,
    Py_ssize_t target_position,
    const unsigned char* source,
    Py_ssize_t position,
    Py_ssize_t size,
) noexcept:
    memcpy(target + target_position, source + position, size)
