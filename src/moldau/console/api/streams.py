"""Streams applications that run: their queries, and the picture of their topology."""

import asyncio

from moldau.console.access import Role
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.console.services.applications import drawing, queries
from moldau.console.services.rest import RestService
from moldau.web.errors import WebError


async def applications(call: ApiCall) -> object:
    """All that are named; one that does not answer is marked, the rest is shown."""
    known = call.console.streams
    found = await asyncio.gather(*(_application(name, each) for name, each in known.items()))
    return {"applications": list(found)}


async def _application(name: str, service: RestService) -> dict[str, object]:
    shown: dict[str, object] = {"name": name, "address": service.address}
    try:
        text = (await service.send("GET", "metrics")).data.decode(errors="replace")
    except WebError as error:
        return {**shown, "queries": [], "topology": None, "error": error.message}
    try:
        topology = drawing(await service.ask("GET", "topology"))
    except WebError:
        topology = None  # of an older version, which has metrics alone
    return {**shown, "queries": queries(text), "topology": topology}


ENDPOINTS = (
    ApiEndpoint(
        "GET",
        f"{PREFIX}/streams",
        Role.VIEWER,
        "Streams applications and their queries",
        applications,
    ),
)
