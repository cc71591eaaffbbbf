"""One entry of `log.dirs`: online until the first disk call that fails, then offline for good.

A failed write or sync leaves it unknown what the device holds, so nothing on the volume
is written or acknowledged after it (and nothing is tried again: a second `fsync` may
report success for pages the first one lost). Other volumes are not concerned.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from moldau.errors import ErrorCode, KafkaError
from moldau.log import names
from moldau.model import TopicPartition
from moldau.runtime.disk import Disk

_log = logging.getLogger(__name__)

WARM_MAX = 1000


class Coolable(Protocol):
    """Something that holds a descriptor or memory it can get back from disk."""

    def cool(self) -> None:
        """Let go of them."""


class Volume:
    """A disk path with its state, and the few segments on it that are kept open."""

    __slots__ = ("_warm", "_warm_max", "disk", "failure", "path")

    def __init__(self, disk: Disk, path: str, *, warm_max: int = WARM_MAX) -> None:
        self.disk = disk
        self.path = path
        self.failure: OSError | None = None
        self._warm: OrderedDict[Coolable, None] = OrderedDict()
        self._warm_max = warm_max

    @property
    def is_online(self) -> bool:
        return self.failure is None

    def require_online(self) -> None:
        """Raise KAFKA_STORAGE_ERROR once any disk call has failed."""
        if self.failure is not None:
            raise self._error()

    def fail(self, error: OSError) -> KafkaError:
        """Take the volume offline; returns the error to raise."""
        if self.failure is None:
            self.failure = error
            _log.error("Log directory %s is offline: %s", self.path, error)
        return self._error()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn any failed disk call inside the block into an offline volume."""
        self.require_online()
        try:
            yield
        except OSError as error:
            raise self.fail(error) from error

    def touch(self, segment: Coolable) -> None:
        """Note that `segment` is in use; the one used longest ago is cooled in exchange."""
        warm = self._warm
        if segment in warm:
            warm.move_to_end(segment)
            return
        warm[segment] = None
        if len(warm) > self._warm_max:
            warm.popitem(last=False)[0].cool()

    def forget(self, segment: Coolable) -> None:
        """Stop keeping `segment` open."""
        self._warm.pop(segment, None)
        segment.cool()

    def _error(self) -> KafkaError:
        message = f"log directory {self.path} is offline: {self.failure}"
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message)


class Folder:
    """One partition's directory on a volume; all its files are found through it."""

    __slots__ = ("disk", "partition", "path", "volume")

    def __init__(self, volume: Volume, partition: TopicPartition) -> None:
        self.volume = volume
        self.disk = volume.disk
        self.partition = partition
        self.path = f"{volume.path}/{partition}"

    def file(self, base_offset: int, suffix: str) -> str:
        """The path of a file named by an offset."""
        return f"{self.path}/{names.segment_file(base_offset, suffix)}"
