"""Applications are shown with their queries, and those that do not answer with why."""

from moldau.console.services.rest import RestService
from unit.console.asking import asking
from unit.console.services.answering import answering

METRICS = b'moldau_streams_batch_ms{query="<b>counts</b>"} 250\n'
BOX = {"x": 0, "y": 0, "kind": "source", "lines": ["lines"], "queries": []}


async def test_those_that_answer_and_those_that_do_not() -> None:
    drawn = {"box": [9, 9], "boxes": [BOX], "arrows": []}
    new = {"GET /metrics": (200, METRICS), "GET /topology": (200, drawn)}
    async with answering(new) as one, answering({"GET /metrics": (200, METRICS)}) as other:
        services = {
            "new": RestService(one.url),
            "old": RestService(other.url),
            "gone": RestService("http://127.0.0.1:1"),
        }
        async with asking({"local": {}}, beside={"streams": services}) as console:
            new_one, old, gone = (await console.get("/streams"))["applications"]
    assert new_one["queries"] == [{"name": "<b>counts</b>", "batch_ms": 250.0}]
    assert new_one["topology"] == drawn
    assert (old["topology"], len(old["queries"])) == (None, 1)
    assert "does not answer" in gone["error"]
