"""One handler per API: a message module, a handler module and a line in routes.py make one."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidy.sources import Violation, parse, place

SIGNATURE = ["request", "context", "broker"]


def one_handler_per_api(root: Path) -> Iterator[Violation]:
    """Every handler has its messages and one route; every route its handler and versions."""
    package = root / "src" / "moldau"
    folder = package / "broker" / "handlers"
    routes = package / "broker" / "routes.py"
    if not folder.is_dir():
        return
    routed = list(declared(routes, "Route", name_at=0, versions_at=1))
    handlers = [path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
    names = [snake_case(api) for api, _ in routed]
    for path in handlers:
        for detail in faults_of(path, package, names.count(path.stem)):
            yield Violation(place(root, path), "one_handler_per_api", detail)
    apis = dict(declared(package / "protocol" / "apis.py", "Api", name_at=1, versions_at=2))
    for api, versions in routed:
        for detail in faults_of_route(api, versions, apis, {path.stem for path in handlers}):
            yield Violation(place(root, routes), "one_handler_per_api", detail)


def faults_of(handler: Path, package: Path, routes: int) -> Iterator[str]:
    if not (package / "protocol" / "messages" / handler.name).is_file():
        yield f"no messages/{handler.name}"
    if routes != 1:
        yield f"{routes} lines in routes.py instead of one"
    found = [
        [argument.arg for argument in node.args.args]
        for node in parse(handler).body
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "handle"
    ]
    if found != [SIGNATURE]:
        yield f"needs one `async def handle({', '.join(SIGNATURE)})`"


def faults_of_route(
    api: str, versions: range, apis: Mapping[str, range], handlers: set[str]
) -> Iterator[str]:
    if snake_case(api) not in handlers:
        yield f"no handler module {snake_case(api)!r}"
    if api not in apis:
        yield f"no API {api} in protocol/apis.py"
    elif not set(versions) <= set(apis[api]) or not versions:
        yield f"{api} is served in {versions}, but declared in {apis[api]}"


def declared(
    module: Path, kind: str, *, name_at: int, versions_at: int
) -> Iterator[tuple[str, range]]:
    """The names and versions in calls like `Route("ApiName", range(3))`."""
    if not module.is_file():
        return
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == kind:
            bounds = node.args[versions_at]
            assert isinstance(bounds, ast.Call), f"versions of {kind} are a range(...)"
            versions = range(*map(ast.literal_eval, bounds.args))
            yield ast.literal_eval(node.args[name_at]), versions


def snake_case(api_name: str) -> str:
    return re.sub("(?!^)([A-Z])", r"_\1", api_name).lower()
