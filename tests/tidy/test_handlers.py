"""The handler rule finds each way in which an API can be half there."""

from pathlib import Path

import pytest

from tidy.handlers import one_handler_per_api
from tidy.plant import places, plant

HANDLER = "src/moldau/broker/handlers/describe_acls.py"
MESSAGES = "src/moldau/protocol/messages/describe_acls.py"
ROUTES = "src/moldau/broker/routes.py"
APIS = "src/moldau/protocol/apis.py"
ROUTE = 'Route("DescribeAcls", range(4)),'
WHOLE = {
    HANDLER: "async def handle(request, context, broker): pass",
    MESSAGES: "",
    ROUTES: f"ROUTES = ({ROUTE})",
    APIS: 'APIS = (Api(29, "DescribeAcls", range(4), 2), Api(1, "Fetch", range(18), 12))',
}


def test_a_whole_api_is_fine(tmp_path: Path) -> None:
    assert places(one_handler_per_api, plant(tmp_path, WHOLE)) == []


def test_a_project_without_a_broker_is_fine(tmp_path: Path) -> None:
    assert places(one_handler_per_api, plant(tmp_path, {MESSAGES: ""})) == []


@pytest.mark.parametrize("versions", ["range(1)", "range(2, 4)"])
def test_some_of_the_versions_may_be_served(tmp_path: Path, versions: str) -> None:
    routes = f'ROUTES = (Route("DescribeAcls", {versions}),)'
    assert places(one_handler_per_api, plant(tmp_path, {**WHOLE, ROUTES: routes})) == []


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        (ROUTES, "ROUTES = ()", HANDLER),
        (ROUTES, f"ROUTES = ({ROUTE} {ROUTE})", HANDLER),
        (ROUTES, f"ROUTES = ({ROUTE} {ROUTE.replace('DescribeAcls', 'Fetch')})", ROUTES),
        (ROUTES, f"ROUTES = ({ROUTE.replace('(4)', '(5)')})", ROUTES),
        (ROUTES, f"ROUTES = ({ROUTE.replace('(4)', '(0)')})", ROUTES),
        (APIS, "APIS = ()", ROUTES),
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
