"""The errors that users meet as a page: `python -m moldau.client.error_reference`."""

import sys
from collections.abc import Iterator

from moldau.errors import ErrorCode, KafkaError

_INTRODUCTION = """\
# Errors

<!-- Written by `python -m moldau.client.error_reference`; change `moldau/advice.py`, not this. -->

Every error that Kafka has a code for is a `moldau.errors.KafkaError`, with a class of the code's
name. `error.code` is the code, `error.is_retriable` says whether the same may succeed later,
`error.advice` what to check; a traceback shows the advice below the error. What can be retried,
producers, consumers and admin clients have retried already by the time it is raised, until the
time ran out that their settings give.

Codes that only brokers send each other are not listed.

| code | class | retry | what to check |
| --- | --- | --- | --- |
"""


def reference() -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    for code in sorted(ErrorCode):
        error = KafkaError(code)
        if error.advice is not None:
            retry = "yes" if error.is_retriable else "no"
            yield f"| {code.value} | `{type(error).__name__}` | {retry} | {error.advice} |"


def main() -> None:
    """Print the page."""
    sys.stdout.writelines(f"{line}\n" for line in reference())


if __name__ == "__main__":
    main()
