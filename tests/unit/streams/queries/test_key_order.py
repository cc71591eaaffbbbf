"""Keys stay in order, as a sorted list would have them."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.streams.queries import key_order
from moldau.streams.queries.key_order import KeyOrder

KEYS = st.binary(min_size=1, max_size=2)


@given(st.lists(KEYS), KEYS, st.booleans(), st.integers(1, 4))
def test_keys_are_those_of_a_sorted_list(
    changes: list[bytes], start: bytes, is_within: bool, chunk_max: int
) -> None:
    before, key_order.CHUNK_MAX = key_order.CHUNK_MAX, chunk_max
    order, model = KeyOrder(), set[bytes]()
    try:
        for key in changes:
            # A key that comes again goes.
            if key in model:
                order.remove(key)
            else:
                order.add(key)
            model ^= {key}
    finally:
        key_order.CHUNK_MAX = before
    wanted = sorted(key for key in model if key > start or (is_within and key == start))
    assert list(order.from_key(start, is_within=is_within)) == wanted
    assert list(order.from_key(b"", is_within=True)) == sorted(model)
