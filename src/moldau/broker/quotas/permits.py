"""The permission of one request to change topics, as far as the client's quota goes (KIP-599)."""

from moldau.broker.quotas.token_bucket import TokenBucket
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.clock import Clock


class Permits:
    """Counts partitions that a request creates or deletes.

    Newer versions of a request are strict: a topic is refused once there is nothing left. Older
    ones do not know that error: all is done, and the client waits longer.
    """

    def __init__(self, bucket: TokenBucket | None, clock: Clock, *, is_strict: bool) -> None:
        """Without a bucket there is no quota."""
        self._bucket = bucket
        self._clock = clock
        self._is_strict = is_strict
        self._until_ms = 0

    def take(self, count: int) -> None:
        """Change so many partitions; raises if that is too much for now."""
        bucket = self._bucket
        if bucket is None:
            return
        now_ms = self._clock.monotonic_ms()
        if self._is_strict:
            wait_ms = bucket.wait_ms(now_ms)
            if wait_ms:
                self._until_ms = now_ms + wait_ms
                raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
            bucket.take(count, now_ms)
        else:
            bucket.take(count, now_ms)
            self._until_ms = now_ms + bucket.wait_ms(now_ms)

    @property
    def throttle_ms(self) -> int:
        """How long the client is to wait from now on."""
        return max(0, self._until_ms - self._clock.monotonic_ms()) if self._until_ms else 0
