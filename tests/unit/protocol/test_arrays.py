"""Arrays of numbers."""

import pytest

from moldau.errors import ProtocolError
from moldau.protocol.arrays import SHORT, pack_long, short_packers, short_unpackers, unpack_long


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("count", range(SHORT))
def test_short_and_long_packers_agree(count: int, compact: bool) -> None:
    values = list(range(count))
    prefix = count + 1 if compact else count
    short = short_packers("i", compact=compact)[count](prefix, *values)
    assert short == pack_long(values, "i", compact=compact)


def test_unpackers_read_what_packers_wrote() -> None:
    packed = pack_long([1, -2, 3], "h", compact=False)
    assert short_unpackers("h")[3](packed, 4) == (1, -2, 3)
    assert unpack_long(packed, 4, "h", 3) == (1, -2, 3)


def test_a_count_that_no_bytes_justify_is_refused_before_anything_is_allocated() -> None:
    with pytest.raises(ProtocolError, match="claims 2147483647 elements"):
        unpack_long(bytes(8), 0, "q", 2**31 - 1)
