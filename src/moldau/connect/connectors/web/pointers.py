"""JSON pointers (RFC 6901): where in a document something is."""

from moldau.connect.errors import ConfigError


class JsonPointer:
    """`/data/0/id`; the empty one is the document itself."""

    def __init__(self, setting: str, text: str) -> None:
        if text and not text.startswith("/"):
            raise ConfigError(f"{setting}: {text} is no JSON pointer: it begins with a slash")
        self._parts = [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]

    def find(self, document: object) -> object:
        """What is there, or None."""
        found = document
        for part in self._parts:
            if isinstance(found, dict):
                found = found.get(part)
            elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
                found = found[int(part)]
            else:
                return None
        return found
