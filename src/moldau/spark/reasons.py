"""Why a query failed, in one line: the root of what Spark reports."""

import re

LENGTH_MAX = 500
# After this Spark prints the query's plan.
_PLAN = "=== Streaming Query ==="
_EXCEPTION = re.compile(r"(?:Caused by: )?((?:[A-Za-z_]\w*\.)*)([A-Z]\w*[a-z]\w*): (\S.*)")
# These say only that something else went wrong.
_WRAPPERS = frozenset(
    {
        "PythonException",
        "Py4JException",
        "Py4JJavaError",
        "SparkException",
        "StreamingQueryException",
    }
)
_ERROR_CLASS = re.compile(r"^(?:\[[A-Z0-9_.]+\] )+")
_STATE = re.compile(r"\s*(?:SQLSTATE: \w{5}\s*)+$")
# What `raise_error` gives is in our own words.
_OWN_WORDS = "[USER_RAISED_EXCEPTION] "


def reason(report: str) -> str:
    """The exception from which the others came, without Spark's own words around it."""
    said = report.partition(_PLAN)[0]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    found = [match for line in lines if (match := _EXCEPTION.match(line))]
    roots = [match for match in found if match[2] not in _WRAPPERS]
    if roots:
        name, message = roots[-1][2], roots[-1][3]
        if message.startswith(_OWN_WORDS):
            return _plain(message)
        return f"{name}: {_plain(message)}"
    last = found[-1][3] if found else (lines or ["no reason was given"])[0]
    return _plain(last.partition("terminated with exception: ")[2] or last)


def is_of_data(report: str) -> bool:
    """Whether a record is to blame, so that trying again would come to the same."""
    return "StepFailed: " in report or _OWN_WORDS in report


def _plain(message: str) -> str:
    return _STATE.sub("", _ERROR_CLASS.sub("", message))[:LENGTH_MAX]
