"""Whether one Avro schema can read what was written with another, by Avro's rules of resolution."""

from dataclasses import dataclass, field

from moldau.registry.levels import Difference
from moldau.registry.schemas.avro import AvroField, AvroType

# What a reader's primitive type takes besides its own.
_PROMOTED = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}
_RECORDS = ("record", "error")


def differences(reader: AvroType, writer: AvroType) -> list[Difference]:
    """Why the reader cannot read all that the writer writes: nothing if it can."""
    return _Resolution().of(reader, writer, "/")


@dataclass(slots=True)
class _Resolution:
    """Types that refer to themselves are met again: what is under way counts as fitting."""

    met: dict[tuple[int, int], list[Difference]] = field(default_factory=dict)

    def of(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        pair = id(reader), id(writer)
        if pair not in self.met:
            self.met[pair] = []
            self.met[pair] = self._resolve(reader, writer, path)
        return self.met[pair]

    def _resolve(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        if writer.kind == "union":
            found: list[Difference] = []
            for index, branch in enumerate(writer.branches):
                if self.of(reader, branch, f"{path}{index}/"):
                    missing = f"'{branch.name or branch.kind}' of the writer's union"
                    kind = "MISSING_UNION_BRANCH" if reader.kind == "union" else "TYPE_MISMATCH"
                    found.append(_difference(kind, f"{path}{index}", f"{missing} is not read"))
            return found
        if reader.kind == "union":
            if any(not self.of(branch, writer, path) for branch in reader.branches):
                return []
            wanted = writer.name or writer.kind
            return [_difference("MISSING_UNION_BRANCH", path, f"no branch of it reads '{wanted}'")]
        if _family(reader.kind) != _family(writer.kind):
            if writer.kind in _PROMOTED.get(reader.kind, ()):
                return []
            detail = f"'{reader.kind}' does not read '{writer.kind}'"
            return [_difference("TYPE_MISMATCH", path, detail)]
        return self._same_kind(reader, writer, path)

    def _same_kind(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        if reader.name and not _is_named_alike(reader, writer):
            detail = f"'{reader.name}' is not '{writer.name}', nor is that an alias of it"
            return [_difference("NAME_MISMATCH", f"{path}name", detail)]
        if reader.items is not None and writer.items is not None:
            inner = "items" if reader.kind == "array" else "values"
            return self.of(reader.items, writer.items, f"{path}{inner}/")
        if reader.kind == "fixed" and reader.size != writer.size:
            detail = f"{reader.size} bytes are not {writer.size}"
            return [_difference("FIXED_SIZE_MISMATCH", f"{path}size", detail)]
        if reader.kind == "enum":
            missing = [each for each in writer.symbols if each not in reader.symbols]
            if missing and reader.default is None:
                detail = f"it has no {', '.join(missing)}, and no default"
                return [_difference("MISSING_ENUM_SYMBOLS", f"{path}symbols", detail)]
        return self._fields(reader, writer, path)

    def _fields(self, reader: AvroType, writer: AvroType, path: str) -> list[Difference]:
        found: list[Difference] = []
        for index, read in enumerate(reader.fields):
            place = f"{path}fields/{index}"
            written = _written(read, writer)
            if written is not None:
                found += self.of(read.type, written.type, f"{place}/type/")
            elif not read.default:
                detail = f"the field '{read.name}' is not written, and has no default"
                found.append(_difference("READER_FIELD_MISSING_DEFAULT_VALUE", place, detail))
        return found


def _written(read: AvroField, writer: AvroType) -> AvroField | None:
    by_name = {each.name: each for each in writer.fields}
    for name in (read.name, *read.aliases):
        if name in by_name:
            return by_name[name]
    return None


def _is_named_alike(reader: AvroType, writer: AvroType) -> bool:
    return reader.short_name == writer.short_name or writer.name in reader.aliases


def _family(kind: str) -> str:
    return "record" if kind in _RECORDS else kind


def _difference(kind: str, path: str, detail: str) -> Difference:
    return Difference(kind, path, f"at {path}: {detail}")
