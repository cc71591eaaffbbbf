"""The description of the API, made of the endpoints themselves."""

import string
from collections.abc import Iterable

import moldau
from moldau.console.endpoints import ApiEndpoint


def document(endpoints: Iterable[ApiEndpoint]) -> dict[str, object]:
    """OpenAPI 3.1."""
    paths: dict[str, dict[str, object]] = {}
    for each in endpoints:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moldau console",
            "version": moldau.__version__,
            "description": "What the console's pages use. Errors are JSON: error_code, message.",
        },
        "paths": paths,
    }


def _operation(endpoint: ApiEndpoint) -> dict[str, object]:
    in_path = [name for _, name, _, _ in string.Formatter().parse(endpoint.path) if name]
    operation: dict[str, object] = {
        "summary": endpoint.summary,
        "description": f"Takes the role {endpoint.role.name.lower()}.",
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in in_path
            ),
            *(
                {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
                for name, text in endpoint.query.items()
            ),
        ],
        "responses": {
            "200": {"description": "done"},
            "403": {"description": "the role, or the cluster, does not allow it"},
            "503": {"description": "the cluster does not answer"},
        },
    }
    if endpoint.body:
        fields = {name: {"description": text} for name, text in endpoint.body.items()}
        schema = {"type": "object", "properties": fields}
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return operation
