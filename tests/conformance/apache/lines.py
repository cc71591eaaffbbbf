"""A Java program that answers calls: one JSON line in, one JSON line out."""

import base64
import json
import subprocess
import threading
from types import TracebackType
from typing import Any, Self

from conformance.apache.jvm import java_command, program_class_path

# What a call answers is JSON of the shape that the Java side documents.
Json = Any
_DEADLINE_S = 60


class JavaError(Exception):
    """The program's call ended with an exception."""

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(f"{exception}: {message}")
        self.exception = exception
        self.message = message


class JavaProgram:
    """`java/<name>`, running; its start is paid once for all calls."""

    def __init__(self, name: str, *jar_sections: str) -> None:
        path = program_class_path(name, *jar_sections)
        # Java clients complain at length while their broker is away on purpose.
        program, *options = java_command(path, f"{name}.{name.capitalize()}")
        self._process = subprocess.Popen(
            [program, "-Dmoldau.log.level=ERROR", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def call(self, name: str, **arguments: object) -> Json:
        """The result of one call, as parsed JSON; bytes among the arguments become base64."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        request = json.dumps({"call": name, **arguments}, default=_base64)
        watchdog = threading.Timer(_DEADLINE_S, process.kill)
        watchdog.start()
        try:
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            raise JavaError("process ended", f"during {name}")
        answer = json.loads(line)
        if "error" in answer:
            raise JavaError(answer["error"], answer["message"])
        return answer["result"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()


def from_base64(text: str) -> bytes:
    """Bytes in an answer."""
    return base64.b64decode(text)


def nullable_from_base64(text: str | None) -> bytes | None:
    """Bytes in an answer that may be null, as keys and values of records are."""
    return None if text is None else base64.b64decode(text)


def _base64(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode()
