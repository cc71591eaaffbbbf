# C types of connection.py; every name here is a class, method or variable there.

cimport cython
from libc.stdint cimport int64_t

from moldau.net._outgoing cimport OutgoingAnswers
from moldau.net._receive_buffer cimport ReceiveBuffer

cdef int64_t SIZE_BYTES, KIND_BYTES, NO_KIND


cdef class Connection:
    cdef object _owner, _opening, _respond, _limits, _loop, _task, _unanswered, _parked
    cdef object _memory, _unmuting, _refuse_frame
    cdef ReceiveBuffer _received
    cdef OutgoingAnswers _outgoing
    cdef int64_t _frame_size_max, _requests_per_turn, _unanswered_kind
    cdef int64_t _list_frame_size_max, _parked_size
    cdef int64_t _memory_bytes
    cdef bint _is_busy, _is_write_blocked, _is_read_paused
    cdef bint _is_turn_scheduled, _has_unanswered, _is_held_back, _is_failing
    cdef bint _is_muted
    cdef public object transport, last_activity_s, frame_began_s, write_blocked_since_s
    cdef public object closing_since_s, unknown_since_s
    cdef public bint has_hung_up

    cdef _let_go(self)
    cpdef get_buffer(self, sizehint)
    cpdef buffer_updated(self, nbytes)

    @cython.locals(handled=int64_t)
    cpdef turn(self)

    @cython.locals(received=ReceiveBuffer, waiting=int64_t, size=int64_t)
    cdef _take_frame(self)

    @cython.locals(received=ReceiveBuffer, start=int64_t)
    cdef bint _is_long_list(self) except -1

    @cython.locals(received=ReceiveBuffer, start=int64_t)
    cdef bint _may_begin(self) except -1

    cdef _begin(self, frame)
    cdef _settle(self, answer, int64_t frame_size)

    @cython.locals(start=int64_t)
    cdef int64_t _kind(self, int64_t frame_size) except? -1
    cdef _run(self, work)
    cdef _queue(self, outcome)
    cdef _fail_in_order(self, error)
    cdef _fail(self, error)

    @cython.locals(received=ReceiveBuffer)
    cdef _make_room(self)

    cdef _pause_reading(self)

    @cython.locals(size=int64_t)
    cdef bint _has_memory(self) except -1

    @cython.locals(size=int64_t)
    cdef _give_memory_back(self)
