# C types of sockets.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t

cdef int64_t READABLE, WRITABLE, BROKEN, HANG_UP, NOTHING, READ_MAX_BYTES


@cython.final
cdef class Poller:
    cdef readonly object loop
    cdef object _epoll
    cdef dict _transports, _masks

    @cython.locals(transport=SocketTransport)
    cpdef turn(self)

    @cython.locals(before=int64_t)
    cdef watch(self, SocketTransport transport, int64_t mask)


@cython.final
cdef class SocketTransport:
    cdef Poller _poller
    cdef object _socket, _reader, _file, _sent, _peer_name
    cdef readonly int64_t descriptor
    cdef bytearray _unsent
    cdef int64_t _unsent_max, _file_sent
    cdef bint _is_full, _is_reading, _has_hung_up, _is_closing, _has_ended

    cpdef bint is_closing(self)
    cdef ready(self, int64_t events)

    @cython.locals(size=int64_t, room=int64_t, left=int64_t)
    cdef _read(self)

    @cython.locals(sent=int64_t)
    cpdef write(self, data, int64_t flags=*)

    @cython.locals(sent=int64_t, count=int64_t)
    cdef _write_file(self)

    cdef _write_rest(self)

    @cython.locals(mask=int64_t)
    cdef _watch(self)

    cdef _break(self, error)
    cdef _end(self, error)
