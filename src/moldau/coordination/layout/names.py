"""Names as parts of paths: Kafka writes users and clients percent-encoded."""

from urllib.parse import quote, unquote

DEFAULT_ENTITY = "<default>"
"""The name of the entity that stands for all without one of their own; never encoded."""


def sanitize(name: str) -> str:
    """The name with everything but letters, digits and `-._` percent-encoded."""
    # Java's encoder, unlike Python's, encodes the tilde.
    return quote(name, safe="-._").replace("~", "%7E")


def desanitize(text: str) -> str:
    """The name that `sanitize` made `text` of."""
    return unquote(text)
