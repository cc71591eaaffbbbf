"""Pages and API are served to this machine's own pages, and to no others."""

import gzip
import json

import pytest

from unit.console.asking import API, Asking, asking

NOWHERE = {"local": {"bootstrap.servers": "127.0.0.1:1"}}


@pytest.mark.parametrize("path", ["/", "/c/local/topics/a%2Fb", "/static/app.js", "/api/console"])
async def test_every_answer_is_guarded(path: str) -> None:
    async with asking(NOWHERE) as console:
        answer = await console.ask("GET", path)
    assert answer.status == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in answer.headers


async def test_a_name_that_points_here_is_not_served() -> None:
    async with asking(NOWHERE) as console:
        answer = await console.ask("GET", "/api/console", headers={"host": "evil.example"})
    assert answer.status == 421


async def test_a_page_of_another_site_changes_nothing() -> None:
    async with asking(NOWHERE) as console:
        answer = await console.ask(
            "POST", f"{API}/topics", {"name": "a"}, {"origin": "http://evil.example"}
        )
        assert answer.status == 403
        own = await console.ask(
            "POST", f"{API}/topics", {"name": 1}, {"origin": "http://localhost:8081"}
        )
    assert own.status == 400


async def test_files_are_compressed_and_known_again() -> None:
    async with asking(NOWHERE) as console:
        plain = await console.ask("GET", "/static/app.js")
        packed = await console.ask("GET", "/static/app.js", headers={"accept-encoding": "gzip"})
        known = await console.ask(
            "GET", "/static/app.js", headers={"if-none-match": plain.headers["etag"]}
        )
        missing = await console.ask("GET", "/static/../app.py")
    assert gzip.decompress(packed.body) == plain.body
    assert (known.status, known.body) == (304, b"")
    assert missing.status == 404


async def test_unknown_paths_of_the_api_are_no_pages() -> None:
    async with asking(NOWHERE) as console:
        assert (await console.ask("GET", "/api/nothing")).status == 404
        assert (await console.ask("POST", "/api/nothing", {})).status == 404
        assert (await console.ask("GET", "/api/clusters/other/topics")).status == 404


async def test_the_api_describes_itself(console: Asking) -> None:
    document = json.loads((await console.ask("GET", "/api/openapi.json")).body)
    assert "/api/clusters/{cluster}/topics/{topic}" in document["paths"]
