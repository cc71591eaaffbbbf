"""Starts the process that runs a statement, gives it the table, and ends it in time."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

import moldau

QUERY_S = 20.0
_START_S = 10.0
_WORKER = "moldau.console.queries.worker"
_ANSWER_BYTES_MAX = 64 << 20


async def ask(sql: str, table: pa.Table, seconds: float = QUERY_S) -> dict[str, object]:
    """What the statement finds, or why not; to stop waiting ends the process."""
    data = await asyncio.to_thread(_stream, table)
    request = json.dumps({"sql": sql, "seconds": seconds}).encode() + b"\n"
    process = await asyncio.to_thread(_started)
    try:
        async with asyncio.timeout(seconds + _START_S):
            answer = await asyncio.to_thread(_answer, process, request + data)
    except TimeoutError:
        return {"error": "it took too long, and was ended"}
    finally:
        process.kill()  # the thread gets what there is, and waits for its end
    if not answer or len(answer) > _ANSWER_BYTES_MAX:
        return {"error": "it was ended by the system: it takes too much memory"}
    found: dict[str, object] = json.loads(answer)
    return found


def _started() -> "subprocess.Popen[bytes]":
    sources = str(Path(moldau.__file__).parents[1])
    path = os.pathsep.join(filter(None, (sources, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(  # noqa: S603 - this Python and our own module
        [sys.executable, "-m", _WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": path},
    )


def _answer(process: "subprocess.Popen[bytes]", request: bytes) -> bytes:
    with process:
        return process.communicate(request)[0]


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
