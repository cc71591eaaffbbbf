"""One partition's log, as Apache's broker code keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.apache.lines import JavaProgram, Json, from_base64
from moldau.errors import ErrorCode

NEWEST_PRODUCE = 11


@dataclass(frozen=True, slots=True)
class Answer:
    """What a producer is told, and the bytes that the log has for it."""

    code: ErrorCode
    base_offset: int = -1
    stored: bytes = b""
    message: str = field(default="", compare=False)


@dataclass(slots=True)
class ApacheLog:
    """The log in `directory`; a process has only one of them open at a time."""

    oracle: JavaProgram
    directory: Path
    config: Mapping[str, str]
    now_ms: int

    def open(self, *, is_clean: bool = True) -> None:
        """Open it, or create it in an empty directory; recover it first if not clean."""
        self.directory.mkdir(exist_ok=True)
        self.oracle.call(
            "open_log",
            directory=str(self.directory),
            config=dict(self.config),
            log_start_offset=0,
            recovery_point=0,
            is_clean=is_clean,
            now_ms=self.now_ms,
        )

    def produce(
        self,
        data: bytes | bytearray,
        *,
        leader_epoch: int = 0,
        origin: str = "CLIENT",
        version: int = NEWEST_PRODUCE,
    ) -> Answer:
        answer = self.oracle.call(
            "produce",
            data=data,
            version=version,
            leader_epoch=leader_epoch,
            origin=origin,
            now_ms=self.now_ms,
        )
        if answer["error_code"]:
            return Answer(ErrorCode(answer["error_code"]), message=answer["message"])
        return Answer(ErrorCode.NONE, answer["base_offset"], from_base64(answer["stored"]))

    def roll(self) -> None:
        self.oracle.call("roll_log")

    def truncate_to(self, offset: int) -> None:
        self.oracle.call("truncate_log", offset=offset)

    def clean(self, *, first_dirty_offset: int, first_uncleanable_offset: int) -> int:
        """Compact it; returns up to where it is clean now."""
        end_offset: int = self.oracle.call(
            "clean_log",
            first_dirty_offset=first_dirty_offset,
            first_uncleanable_offset=first_uncleanable_offset,
            now_ms=self.now_ms,
        )
        return end_offset

    def state(self) -> Json:
        return self.oracle.call("log_state")

    def read(self, offset: int, *, max_bytes: int) -> bytes:
        return from_base64(self.oracle.call("read_log", offset=offset, max_bytes=max_bytes))

    def offset_for_timestamp(self, timestamp: int) -> tuple[int, int] | None:
        """Timestamp and offset of the first record that is not older."""
        found = self.oracle.call("offset_for_timestamp", timestamp=timestamp)
        return found and tuple(found)

    def close(self) -> None:
        self.oracle.call("close_log")
