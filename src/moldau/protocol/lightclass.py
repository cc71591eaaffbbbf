"""Dataclasses that cost little until they are used.

`dataclasses.dataclass(slots=True)` compiles three methods for every class, which
for all messages together takes a good part of a second. Here the constructor is
compiled when the first instance is made; comparison and representation are
shared by all classes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
REQUIRED: Any = object()


class Specifier:
    """A field's default, given as a value or made anew by a function for each instance."""

    __slots__ = ("default", "factory")

    def __init__(self, default: object, factory: Callable[[], object] | None) -> None:
        self.default = default
        self.factory = factory


def with_slots(cls: type[T], facts: dict[str, object]) -> type[T]:
    """The class again, with a slot for every annotation and `facts` as attributes."""
    names = tuple(cls.__annotations__)
    namespace = dict(vars(cls))
    for added_by_python in ("__dict__", "__weakref__"):
        namespace.pop(added_by_python, None)
    namespace |= facts
    namespace |= {
        "__slots__": names,
        "__match_args__": names,
        "__defaults__": {name: namespace.pop(name) for name in names if name in namespace},
        "__init__": _compile_and_initialize,
        "__eq__": _is_equal,
        "__hash__": None,
        "__repr__": _representation,
    }
    return type(cls.__name__, cls.__bases__, namespace)


def _compile_and_initialize(self: Any, **values: object) -> None:
    cls = type(self)
    cls.__init__ = _constructor(cls)
    cls.__init__(self, **values)


def _constructor(cls: Any) -> Callable[..., None]:
    parameters: list[str] = []
    statements: list[str] = []
    scope: dict[str, object] = {"NOT_GIVEN": REQUIRED}
    for name in cls.__slots__:
        declared: Any = cls.__defaults__.get(name, REQUIRED)
        factory = None
        if isinstance(declared, Specifier):
            declared, factory = declared.default, declared.factory
        if factory is not None:
            scope[f"new_{name}"] = factory
            parameters.append(f"{name}=NOT_GIVEN")
            statements.append(f"self.{name} = new_{name}() if {name} is NOT_GIVEN else {name}")
            continue
        if declared is REQUIRED:
            parameters.append(name)
        else:
            scope[f"default_{name}"] = declared
            parameters.append(f"{name}=default_{name}")
        statements.append(f"self.{name} = {name}")
    signature = f"self, *, {', '.join(parameters)}" if parameters else "self"
    source = f"def __init__({signature}):\n    " + "\n    ".join(statements or ["pass"])
    exec(source, scope)  # noqa: S102  the text is made from declarations alone
    constructor: Any = scope["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor  # type: ignore[no-any-return]


def _is_equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    names: tuple[str, ...] = self.__slots__
    return all(getattr(self, name) == getattr(other, name) for name in names)


def _representation(self: Any) -> str:
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__name__}({values})"
