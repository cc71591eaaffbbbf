# C types of tls_transport.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.net._tls_records cimport ArrivedRecords
from moldau.records.memory cimport copy, start_of, writable_view

cdef int64_t RECORD_MAX_BYTES, SLICE_BYTES


cdef class TlsTransport:
    cdef object _reader, _side, _memory, _loop, _incoming, _outgoing, _engine, _transport
    cdef object _file, _read_record, _rest_of_record, _sent
    cdef ArrivedRecords _arrived
    cdef bytearray _unsent
    cdef int64_t _unsent_start, _unsent_max, _turn_bytes, _unasked_bytes, _file_sent
    cdef bint _has_begun, _is_secure, _has_failed, _is_full, _is_blocked, _is_resting
    cdef bint _is_reading, _is_below_paused, _is_draining, _is_closing, _holds
    cdef public object on_secure

    cpdef get_buffer(self, sizehint)
    cpdef buffer_updated(self, nbytes)
    cpdef pause_writing(self)
    cpdef resume_writing(self)
    cpdef bint is_closing(self)

    @cython.locals(size=int64_t, sent=int64_t)
    cpdef write(self, data)

    cdef _begin(self)
    cdef _fail(self, reason)
    cdef _give_up(self, error)

    @cython.locals(is_at_end=bint)
    cdef _drain(self)

    @cython.locals(
        room=int64_t, filled=int64_t, left=int64_t, count=int64_t, is_at_end=bint,
        record=bytearray, whole_record=tuple, arrived=ArrivedRecords, target="uint8_t*", source="const uint8_t*")
    cdef bint _read(self) except -1

    cdef _pause_below(self)
    cdef _resume_below(self)

    @cython.locals(size=int64_t, written=int64_t)
    cdef int64_t _encrypt(self, plain) except -1

    cdef bint _may_encrypt(self)

    @cython.locals(start=int64_t, end=int64_t)
    cdef _pump(self)

    @cython.locals(sent=int64_t, count=int64_t)
    cdef _send_slice(self, piece)

    cdef _settle_file(self)
    cdef _flush(self)
    cdef int64_t _unsent_bytes(self)
    cdef _forget_unsent(self)
    cdef _finish(self)
