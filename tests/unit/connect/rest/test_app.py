"""Paths, methods and users of the REST interface."""

import json

from moldau.connect.rest.app import StandByApp
from unit.connect.started import StartedWorker
from unit.web.requests import ask


def test_unknown_paths_and_methods_are_answered_in_connects_words(worker: StartedWorker) -> None:
    missing = {"error_code": 404, "message": "HTTP 404 Not Found"}
    assert worker.ask("GET", "/nothing") == (404, missing)
    refused = {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
    assert worker.ask("DELETE", "/connectors") == (405, refused)


def test_names_may_have_slashes(worker: StartedWorker) -> None:
    status, found = worker.ask("GET", "/connectors/a%2Fb")
    assert (status, found) == (404, {"error_code": 404, "message": "Connector a/b not found"})


async def test_a_stand_by_says_that_it_is_one() -> None:
    found = await ask(StandByApp(), "GET", "/connectors")
    assert found.status == 503
    health = await ask(StandByApp(), "GET", "/health")
    assert json.loads(health.body)["status"] == "starting"
