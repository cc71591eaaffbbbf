"""Connectors as pages show them: one state of many, the error in a line, no secret."""

import re
from collections.abc import Iterable, Mapping

from moldau.console.services.rest import list_in, object_in, text_in
from moldau.web.errors import WebError

MASK = "••••••"
"""In place of a secret; sent back it stands for the secret that is there."""
_TRACE_MAX = 20_000
_LINE_MAX = 500
_SECRET_MIN = 4  # shorter ones would be found everywhere in a text

_SECRET = re.compile(
    r"password|passwd|passphrase|secret|token|credential|jaas"
    r"|(?:^|[._-])key$|(?:api|access|private|account|shared|encryption)[._-]?key(?:$|[._-])",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{[^{}]+\}")
_LOGIN_IN_URL = re.compile(r"(?<=://)([^/@\s:]*):([^/@\s]+)@")


def is_secret(name: str) -> bool:
    """Whether a setting of this name is not to be shown."""
    return _SECRET.search(name) is not None


def masked_value(name: str, value: str, *, is_password: bool = False) -> str:
    """A value without what is secret in it; a reference to a secret is none."""
    if not value or _REFERENCE.fullmatch(value):
        return value
    if is_password or is_secret(name):
        return MASK
    return _LOGIN_IN_URL.sub(rf"\1:{MASK}@", value)


def masked(config: Mapping[str, object]) -> dict[str, str]:
    """Settings without secrets."""
    return {name: masked_value(name, _text(value)) for name, value in config.items()}


def unmasked(sent: Mapping[str, object], current: Mapping[str, object]) -> dict[str, str]:
    """Settings that were sent, with the secrets that they leave as they are."""
    found = {}
    for name, value in sent.items():
        if not isinstance(value, str):
            raise WebError(400, f"config: {name} is no text")
        known = _text(current.get(name, ""))
        # A setting that Connect declares as a password is masked whatever its name is.
        if MASK in value and value in (MASK, masked_value(name, known)):
            if not known:
                raise WebError(400, f"config: {name} is not known here: type it again")
            value = known  # noqa: PLW2901 - the same setting, unveiled
        found[name] = value
    return found


def secrets_of(config: Mapping[str, object]) -> list[str]:
    """The secrets in settings, longest first."""
    found = {
        _text(value) for name, value in config.items() if masked_value(name, _text(value)) == MASK
    }
    for value in config.values():
        found |= {match.group(2) for match in _LOGIN_IN_URL.finditer(_text(value))}
    return sorted((each for each in found if len(each) >= _SECRET_MIN), key=len, reverse=True)


def without(secrets: Iterable[str], text: str) -> str:
    """A text of others, such as a trace, without these."""
    for each in secrets:
        text = text.replace(each, MASK)
    return text


def overall(status: Mapping[str, object]) -> str:
    """One state for a connector with its tasks: the worst that somebody should know of."""
    own = text_in(object_in(status, "connector"), "state") or "UNASSIGNED"
    tasks = [text_in(each, "state") for each in list_in(status, "tasks")]
    if own == "FAILED" or (tasks and all(each == "FAILED" for each in tasks)):
        return "failed"
    if "FAILED" in tasks:
        return "degraded"
    if own != "RUNNING":
        return own.lower()
    others = [each for each in tasks if each != "RUNNING"]
    if others:
        return others[0].lower()
    return "running" if tasks else "no tasks"


def row(name: str, found: Mapping[str, object], secrets: Iterable[str]) -> dict[str, object]:
    """A connector in a list; `found` is what `expand=status&expand=info` says of it."""
    status, config = object_in(found, "status"), object_in(found, "info", "config")
    states = [text_in(each, "state") for each in list_in(status, "tasks")]
    return {
        "name": name,
        "type": text_in(status, "type") or text_in(object_in(found, "info"), "type"),
        "class": text_in(config, "connector.class"),
        "state": overall(status),
        "tasks": {state: states.count(state) for state in dict.fromkeys(states)},
        "error": first_line(without(secrets, _first_trace(status))),
    }


def _first_trace(status: Mapping[str, object]) -> str:
    parts = [object_in(status, "connector"), *list_in(status, "tasks")]
    return next((trace for each in parts if (trace := text_in(each, "trace"))), "")


def tasks(status: Mapping[str, object], secrets: list[str]) -> list[dict[str, object]]:
    """The connector itself, which is None, and its tasks, with their errors."""
    parts: list[tuple[object, dict[str, object]]] = [(None, object_in(status, "connector"))]
    parts += [(object_in(each).get("id"), object_in(each)) for each in list_in(status, "tasks")]
    return [
        {
            "id": number if isinstance(number, int) else None,
            "state": text_in(each, "state"),
            "worker": text_in(each, "worker_id"),
            "error": first_line(trace := without(secrets, text_in(each, "trace"))),
            "cause": last_cause(trace),
            "trace": trace[:_TRACE_MAX],
        }
        for number, each in parts
    ]


def first_line(trace: str) -> str:
    """The first line of an error that says something."""
    return next((line.strip()[:_LINE_MAX] for line in trace.splitlines() if line.strip()), "")


def last_cause(trace: str) -> str:
    """The innermost cause in a trace of Java or Python, which is mostly what is to be mended."""
    causes = [
        line.strip().removeprefix("Caused by: ")
        for line in trace.splitlines()
        if line.strip().startswith("Caused by: ")
    ]
    return causes[-1][:_LINE_MAX] if causes else ""


def fields(answer: object) -> list[dict[str, object]]:
    """The form that `validate` describes: a field for each setting, with its errors."""
    found = []
    for each in list_in(answer, "configs"):
        definition, value = object_in(each, "definition"), object_in(each, "value")
        name = text_in(definition, "name") or text_in(value, "name")
        if not name:
            continue
        is_password = definition.get("type") == "PASSWORD"
        found.append(
            {
                "name": name,
                "label": text_in(definition, "display_name") or name,
                "type": text_in(definition, "type"),
                "required": definition.get("required") is True,
                "importance": text_in(definition, "importance").lower(),
                "documentation": text_in(definition, "documentation"),
                "group": text_in(definition, "group"),
                "default": masked_value(
                    name, _text(definition.get("default_value")), is_password=is_password
                ),
                "value": masked_value(name, _text(value.get("value")), is_password=is_password),
                "recommended": [_text(one) for one in list_in(value, "recommended_values")],
                "errors": [_text(one) for one in list_in(value, "errors")],
                "is_visible": value.get("visible") is not False,
                "is_secret": is_password or is_secret(name),
            }
        )
    return found


def _text(value: object) -> str:
    return "" if value is None else str(value)
