"""The messages that a `.proto` declares, in its order: a registry numbers them so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Texts and comments may hold anything; the rest is read word by word.
_WORD = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [\w.]+ | [{};]""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Declared:
    name: str
    messages: "list[_Declared]" = field(default_factory=list)


def message_at(proto: str, indexes: Sequence[int]) -> str:
    """The name of a message without its package, e.g. `Order.Line` of [0, 1]."""
    names: list[str] = []
    messages = _messages_of(proto)
    for index in indexes:
        if not 0 <= index < len(messages):
            raise ValueError(f"its schema has no message {list(indexes)}")
        names.append(messages[index].name)
        messages = messages[index].messages
    return ".".join(names)


def indexes_of(proto: str, message: str) -> list[int]:
    """Where a message is, by its name without the package."""
    indexes: list[int] = []
    messages = _messages_of(proto)
    for name in message.split("."):
        found = next((at for at, each in enumerate(messages) if each.name == name), None)
        if found is None:
            raise ValueError(f"the .proto has no message {message!r}")
        indexes.append(found)
        messages = messages[found].messages
    return indexes


def _messages_of(proto: str) -> list[_Declared]:
    """The messages that are not within another; enums, services and so on are passed over."""
    file = _Declared("")
    around = [file]
    statement: list[str] = []
    for word in _WORD.findall(proto):
        if word[0] in "/\"'":
            continue
        if word == "{":
            is_message = len(statement) == 2 and statement[0] == "message"
            declared = _Declared(statement[-1] if is_message else "")
            if is_message:
                around[-1].messages.append(declared)
            around.append(declared)
        elif word == "}" and len(around) > 1:
            around.pop()
        if word in "{};":
            statement = []
        else:
            statement.append(word)
    return file.messages
