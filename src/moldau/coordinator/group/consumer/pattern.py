"""Regular expressions by which members subscribe to topics."""

import re

from moldau.errors import ErrorCode, KafkaError


class TopicPattern:
    """Matches whole names of topics."""

    def __init__(self, text: str) -> None:
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{text}: {error}") from error

    def matches(self, name: str) -> bool:
        """Whether the name is what the expression stands for."""
        return self._pattern.fullmatch(name) is not None
