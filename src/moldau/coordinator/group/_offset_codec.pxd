# C types of offset_codec.py; every name here is a function or variable there.

cimport cython
from libc.stdint cimport int64_t, uint8_t

from moldau.records.memory cimport item, put_int32, put_int64, writable

cdef int64_t OFFSET_AT, EPOCH_AT, TIMESTAMP_AT
cdef bytes PLAIN_START


@cython.locals(
    pairs=list, key=bytearray, plain_value=bytearray, start=bytes, index_at=int64_t,
    place="uint8_t*", value=bytes,
)
cpdef list encode_all(records, offset_record, encode)
