"""The handler rule finds each way in which an API can be half there."""

from pathlib import Path

import pytest

from tidy.handlers import one_handler_per_api
from tidy.plant import places, plant

HANDLER = "src/moldau/broker/handlers/describe_acls.py"
MESSAGES = "src/moldau/protocol/messages/describe_acls.py"
ROUTES = "src/moldau/broker/routes.py"
ROUTE = 'Route("DescribeAcls", range(4)),'
WHOLE = {
    HANDLER: "async def handle(request, context, broker): pass",
    MESSAGES: "",
    ROUTES: f"ROUTES = ({ROUTE})",
}


def test_a_whole_api_is_fine(tmp_path: Path) -> None:
    assert places(one_handler_per_api, plant(tmp_path, WHOLE)) == []


def test_a_project_without_a_broker_is_fine(tmp_path: Path) -> None:
    assert places(one_handler_per_api, plant(tmp_path, {MESSAGES: ""})) == []


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        (ROUTES, "ROUTES = ()", HANDLER),
        (ROUTES, f"ROUTES = ({ROUTE} {ROUTE})", HANDLER),
        (ROUTES, f"ROUTES = ({ROUTE} {ROUTE.replace('DescribeAcls', 'Fetch')})", ROUTES),
        (HANDLER, "def handle(request, context, broker): pass", HANDLER),
        (HANDLER, "async def handle(request, broker): pass", HANDLER),
        (HANDLER, "", HANDLER),
    ],
)
def test_a_half_made_api_is_found(tmp_path: Path, file: str, text: str, found: str) -> None:
    root = plant(tmp_path, {**WHOLE, file: text})
    assert places(one_handler_per_api, root) == [found]


def test_a_handler_without_messages_is_found(tmp_path: Path) -> None:
    root = plant(tmp_path, WHOLE)
    (root / MESSAGES).unlink()
    assert places(one_handler_per_api, root) == [HANDLER]


def test_a_handler_without_any_routes_file_is_found(tmp_path: Path) -> None:
    root = plant(tmp_path, WHOLE)
    (root / ROUTES).unlink()
    assert places(one_handler_per_api, root) == [HANDLER]
