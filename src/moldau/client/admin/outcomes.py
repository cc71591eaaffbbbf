"""What became of each of several things that were asked for at once."""

from collections.abc import Iterator, Mapping
from typing import Generic, Self, TypeVar

from moldau.errors import KafkaError

Key = TypeVar("Key")
Value_co = TypeVar("Value_co", covariant=True)


class Outcomes(Mapping[Key, Value_co], Generic[Key, Value_co]):
    """A result for each item; looking at one that failed raises its error.

    So `outcomes["orders"]` and `outcomes.items()` cannot pass over a failure by mistake.
    A caller that wants to go on looks at `errors` and `succeeded`.
    """

    def __init__(self, found: Mapping[Key, Value_co | KafkaError]) -> None:
        self._found = dict(found)

    def __getitem__(self, key: Key) -> Value_co:
        found = self._found[key]
        if isinstance(found, KafkaError):
            raise found
        return found

    def __iter__(self) -> Iterator[Key]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Outcomes({self._found!r})"

    @property
    def errors(self) -> dict[Key, KafkaError]:
        """What failed, and why."""
        return {key: found for key, found in self._found.items() if isinstance(found, KafkaError)}

    @property
    def succeeded(self) -> dict[Key, Value_co]:
        """What did not fail."""
        return {
            key: found for key, found in self._found.items() if not isinstance(found, KafkaError)
        }

    def check(self) -> Self:
        """Raise the first error, if there is any."""
        for error in self.errors.values():
            raise error
        return self
