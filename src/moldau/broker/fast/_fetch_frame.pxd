# C types of fetch_frame.py; every name here is a function there.

cimport cython


@cython.locals(position=long, version=long, client_size=long, size=long, rack_end=long)
cdef tuple _parse(client, bytes frame)

@cython.locals(topic_count=long, partition_count=long, size=long, end=long)
cdef long _read_topics(bytes frame, long position, dict wanted) except -1

@cython.locals(topic_count=long, count=long, size=long, end=long)
cdef long _read_forgotten(bytes frame, long position, list forgotten) except -1

@cython.locals(topic_count=long, partition_count=long)
cdef long _read_flexible_topics(bytes frame, long position, long version, dict wanted) except -1

@cython.locals(topic_count=long, count=long)
cdef long _read_flexible_forgotten(
    bytes frame, long position, long version, list forgotten) except -1

cdef _text(bytes frame, long start, long end)

@cython.locals(number=long, high=long)
cdef long _small(bytes frame, long position) except -1

cdef long _small_size(long number)
cdef int _require_list(long count) except -1
cdef int _require_zero(bytes frame, long position) except -1
