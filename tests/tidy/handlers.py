"""One handler per API: a message module, a handler module and a line in routes.py make one."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tidy.sources import Violation, parse, place

SIGNATURE = ["request", "context", "broker"]


def one_handler_per_api(root: Path) -> Iterator[Violation]:
    package = root / "src" / "moldau"
    folder = package / "broker" / "handlers"
    routes = package / "broker" / "routes.py"
    if not folder.is_dir():
        return
    routed = Counter(routed_handlers(routes))
    handlers = [path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
    for path in handlers:
        for detail in faults_of(path, package, routed[path.stem]):
            yield Violation(place(root, path), "one_handler_per_api", detail)
    for name in sorted(routed.keys() - {path.stem for path in handlers}):
        detail = f"no handler module {name!r}"
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


def routed_handlers(routes: Path) -> Iterator[str]:
    """The handler modules of the `Route("ApiName", ...)` lines: the names in snake case."""
    if not routes.is_file():
        return
    for node in ast.walk(parse(routes)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Route":
            api_name = ast.literal_eval(node.args[0])
            yield re.sub("(?!^)([A-Z])", r"_\1", api_name).lower()
