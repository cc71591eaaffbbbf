"""What a setting allows beyond its type."""

from collections.abc import Callable
from dataclasses import dataclass

Value = bool | int | float | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on a parsed value, and the words that describe it."""

    allowed: str
    accepts: Callable[[Value], bool]
    notation: str
    """The range in the notation of Kafka's documentation, e.g. `[0,...]`."""


def at_least(low: float) -> Rule:
    return Rule(f"at least {low}", lambda value: _number(value) >= low, f"[{low},...]")


def between(low: float, high: float) -> Rule:
    return Rule(
        f"between {low} and {high}",
        lambda value: low <= _number(value) <= high,
        f"[{low},...,{high}]",
    )


def one_of(*choices: str) -> Rule:
    """A string out of `choices`; for a list, every element."""

    def accepts(value: Value) -> bool:
        elements = value if isinstance(value, tuple) else (value,)
        return all(element in choices for element in elements)

    listed = ", ".join(choices)
    return Rule(f"one of {listed}", accepts, f"[{listed}]")


def one_of_any_case(*choices: str) -> Rule:
    """Like `one_of`, with upper and lower case taken as equal."""
    lowered = {choice.lower() for choice in choices}
    listed = ", ".join(choices)
    return Rule(
        f"one of {listed}, in upper or lower case",
        lambda value: isinstance(value, str) and value.lower() in lowered,
        f"(case insensitive) [{listed}]",
    )


def not_empty() -> Rule:
    """A string that has a character, or no value at all."""
    return Rule("a string that is not empty", lambda value: value != "", "non-empty string")


def either(first: Rule, second: Rule, notation: str) -> Rule:
    return Rule(
        f"{first.allowed}, or {second.allowed}",
        lambda value: first.accepts(value) or second.accepts(value),
        notation,
    )


def exactly(number: int) -> Rule:
    return Rule(str(number), lambda value: value == number, str(number))


def _number(value: Value) -> float:
    assert isinstance(value, int | float), value
    return value
