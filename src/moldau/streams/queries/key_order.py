"""Keys in order: found, added and taken out without looking at all of them."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

CHUNK_MAX = 1024


class KeyOrder:
    """Sorted keys in chunks of bounded size; each key is there once."""

    def __init__(self) -> None:
        self._chunks: list[list[bytes]] = []
        # The last key of each chunk.
        self._lasts: list[bytes] = []

    def add(self, key: bytes) -> None:
        """Take in a key that is not there."""
        if not self._chunks:
            self._chunks.append([key])
            self._lasts.append(key)
            return
        at = min(bisect_left(self._lasts, key), len(self._chunks) - 1)
        chunk = self._chunks[at]
        insort(chunk, key)
        if len(chunk) > CHUNK_MAX:
            half = len(chunk) // 2
            self._chunks[at : at + 1] = [chunk[:half], chunk[half:]]
            self._lasts[at : at + 1] = [chunk[half - 1], chunk[-1]]
        else:
            self._lasts[at] = chunk[-1]

    def remove(self, key: bytes) -> None:
        """Take out a key that is there."""
        at = bisect_left(self._lasts, key)
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, key)]
        if chunk:
            self._lasts[at] = chunk[-1]
        else:
            del self._chunks[at], self._lasts[at]

    def from_key(self, key: bytes, *, is_within: bool) -> Iterator[bytes]:
        """Keys in order from this one on, with it or without."""
        find = bisect_left if is_within else bisect_right
        at = find(self._lasts, key)
        for chunk in self._chunks[at:]:
            yield from chunk[find(chunk, key) :]
