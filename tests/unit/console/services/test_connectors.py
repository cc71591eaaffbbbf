"""Connectors have one state, an error in a line, and no secret that can be seen."""

import pytest

from moldau.console.services.connectors import (
    MASK,
    fields,
    first_line,
    is_secret,
    last_cause,
    masked,
    overall,
    secrets_of,
    tasks,
    unmasked,
    without,
)
from moldau.web.errors import WebError


@pytest.mark.parametrize(
    ("own", "parts", "expected"),
    [
        ("RUNNING", ["RUNNING", "RUNNING"], "running"),
        ("RUNNING", ["RUNNING", "FAILED"], "degraded"),
        ("RUNNING", ["FAILED", "FAILED"], "failed"),
        ("FAILED", ["RUNNING"], "failed"),
        ("PAUSED", ["PAUSED"], "paused"),
        ("STOPPED", [], "stopped"),
        ("RUNNING", [], "no tasks"),
        ("RUNNING", ["RUNNING", "UNASSIGNED"], "unassigned"),
        ("RUNNING", ["RESTARTING"], "restarting"),
    ],
)
def test_the_state_is_the_worst_that_somebody_should_know_of(
    own: str, parts: list[str], expected: str
) -> None:
    status = {"connector": {"state": own}, "tasks": [{"state": each} for each in parts]}
    assert overall(status) == expected


@pytest.mark.parametrize("odd", [{}, {"connector": 1, "tasks": {}}, {"tasks": [1, None]}])
def test_a_status_that_is_none_is_unassigned(odd: dict[str, object]) -> None:
    assert overall(odd) == "unassigned"


@pytest.mark.parametrize(
    "name",
    [
        *("connection.password", "database.PASSWORD", "aws.secret.access.key", "auth_token"),
        *("producer.override.sasl.jaas.config", "api.key", "my.credentials", "license.key"),
        *("ssl.keystore.key", "private-key.path"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["key.converter", "connection.url", "ssl.keystore.location", "keys.ignore", "monkey"]
)
def test_names_that_are_no_secrets(name: str) -> None:
    assert not is_secret(name)


CONFIG = {
    "connection.password": "hunter22",
    "connection.url": "jdbc:postgresql://anna:topsecret@db/orders",
    "api.token": "${file:/etc/secrets:token}",
    "tasks.max": "1",
    "empty.password": "",
}


def test_secrets_are_masked_and_references_to_them_are_not() -> None:
    assert masked(CONFIG) == {
        "connection.password": MASK,
        "connection.url": f"jdbc:postgresql://anna:{MASK}@db/orders",
        "api.token": "${file:/etc/secrets:token}",
        "tasks.max": "1",
        "empty.password": "",
    }


def test_what_is_masked_comes_back_as_it_was() -> None:
    sent = {**masked(CONFIG), "tasks.max": "2"}
    assert unmasked(sent, CONFIG) == {**CONFIG, "tasks.max": "2"}
    other = {**sent, "connection.password": "new", "connection.url": "jdbc:none"}
    assert unmasked(other, CONFIG)["connection.password"] == "new"


def test_a_mask_without_a_secret_behind_it_is_refused() -> None:
    with pytest.raises(WebError, match=r"x.password is not known here"):
        unmasked({"x.password": MASK}, {})
    with pytest.raises(WebError, match="a is no text"):
        unmasked({"a": 1}, {})


def test_traces_have_no_secrets() -> None:
    secrets = secrets_of(CONFIG)
    assert secrets == ["topsecret", "hunter22"]
    trace = "login of anna with hunter22 failed at //anna:topsecret@db"
    assert without(secrets, trace) == f"login of anna with {MASK} failed at //anna:{MASK}@db"


def test_an_error_is_a_line_and_its_innermost_cause() -> None:
    trace = (
        "\n org.ConnectException: <b>no</b>\n\tat a.b(c)\nCaused by: a.B: one\nCaused by: c.D: two"
    )
    assert first_line(trace) == "org.ConnectException: <b>no</b>"
    assert last_cause(trace) == "c.D: two"
    assert (first_line(""), last_cause("x")) == ("", "")
    status = {
        "connector": {"state": "RUNNING", "worker_id": "w"},
        "tasks": [{"id": 0, "state": "FAILED", "trace": trace + "x" * 50_000}, {"id": "odd"}, 7],
    }
    own, task, *odd = tasks(status, [])
    assert (own["id"], own["error"]) == (None, "")
    assert (task["id"], task["cause"]) == (0, "c.D: two" + "x" * 492)
    assert len(str(task["trace"])) == 20_000
    assert [each["id"] for each in odd] == [None, None]


def test_a_form_has_a_field_for_each_setting() -> None:
    answer = {
        "configs": [
            {
                "definition": {
                    "name": "pass",
                    "type": "PASSWORD",
                    "required": True,
                    "default_value": "changeit",
                    "importance": "HIGH",
                },
                "value": {"name": "pass", "value": "hunter22", "errors": ["too <b>short</b>"]},
            },
            {
                "definition": {"name": "mode", "display_name": "Mode", "type": "STRING"},
                "value": {"value": None, "recommended_values": ["a", 1], "visible": False},
            },
            {"definition": {}},
            None,
        ]
    }
    password, mode = fields(answer)
    assert (password["value"], password["default"], password["is_secret"]) == (MASK, MASK, True)
    assert (password["required"], password["errors"]) == (True, ["too <b>short</b>"])
    assert (mode["label"], mode["recommended"], mode["is_visible"]) == ("Mode", ["a", "1"], False)
    assert fields("odd") == []
