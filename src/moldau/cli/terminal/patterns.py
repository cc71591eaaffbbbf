"""Regular expressions that stand on the command line."""

import re

from moldau.cli.terminal.failure import CommandFailed


def read_pattern(text: str) -> re.Pattern[str]:
    """The pattern; a list with commas is one too."""
    try:
        return re.compile(text.replace(",", "|"))
    except (re.error, OverflowError, RecursionError) as error:
        raise CommandFailed(f"{text} is no regular expression: {error}") from None
