"""Lines of Python under construction, and the names that they refer to."""

import linecache
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from struct import Struct
from typing import Any

ELEMENTS_PER_PAUSE = 256


class FunctionSource:
    """The text of one generated function."""

    def __init__(self, scope: dict[str, object], reserved: Iterable[str] = ()) -> None:
        """`reserved` are the variables that the text uses by name."""
        self.scope = scope
        self._lines: list[str] = []
        self._depth = 0
        self._counts = dict.fromkeys([*scope, *reserved], 1)

    def line(self, text: str) -> None:
        """Add a statement."""
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Put the statements that follow under `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def fresh(self, stem: str) -> str:
        """A variable name that no other part of the function uses."""
        count = self._counts[stem] = self._counts.get(stem, 0) + 1
        return stem if count == 1 else f"{stem}_{count}"

    def reference(self, stem: str, value: object) -> str:
        """A global name for `value`."""
        for name, known in self.scope.items():
            if known is value:
                return name
        name = self.fresh(stem)
        self.scope[name] = value
        return name

    def packer(self, codes: str) -> str:
        """A global name for the function that packs these `struct` codes, big-endian."""
        name = f"pack_{_as_name(codes)}"
        self.scope[name] = _struct(codes).pack
        return name

    def unpacker(self, codes: str) -> str:
        """A global name for the function that unpacks these `struct` codes, big-endian."""
        name = f"unpack_{_as_name(codes)}"
        self.scope[name] = _struct(codes).unpack_from
        return name

    def begin_pausing(self) -> None:
        """Make a generator of the function, which pauses where it counts its elements."""
        self.line("done = 0")
        self.line(f"pause_at = {ELEMENTS_PER_PAUSE}")
        with self.block("if done:"):  # never: a message without lists is a generator, too
            self.line("yield done")

    def pause_after(self, elements: str, progress: str = "done") -> None:
        """Count elements, and pause to yield `progress` if there have been many since."""
        self.line(f"done += {elements}")
        with self.block("if done >= pause_at:"):
            self.line(f"yield {progress}")
            self.line(f"pause_at = done + {ELEMENTS_PER_PAUSE}")

    def function(self, name: str, title: str) -> Callable[..., Any]:
        """Compile the text, and file it where tracebacks look for source lines."""
        text = "\n".join(self._lines) + "\n"
        file_name = f"<moldau {title}>"
        linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
        exec(compile(text, file_name, "exec"), self.scope)  # noqa: S102  made from declarations
        function: Callable[..., Any] = self.scope[name]  # type: ignore[assignment]
        return function


@cache
def _struct(codes: str) -> Struct:
    return Struct(f">{codes}")


def _as_name(codes: str) -> str:
    return codes.replace("?", "t")  # t for truth value: no `struct` code of its own
