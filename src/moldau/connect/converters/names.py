"""Names that schemas of registries allow."""

import re


def valid_name(name: str) -> str:
    """Letters, digits and `_`, no digit first, as Debezium's adjustment makes them."""
    shown = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{shown}" if shown[:1].isdigit() else shown
