"""Kernels run from their sources where Cython is not installed."""

import os
import subprocess
import sys

PROGRAM = """
import sys
sys.modules["cython"] = sys.modules["Cython"] = None
from moldau.records.batch import write_batch
from moldau.records.columns import decode_columns
from moldau.records.fetched import kernel
from moldau.records.record import Record
assert kernel.__name__ == "moldau.records.kernel"
columns = decode_columns(write_batch([Record(0, 0, None, b"value")]))
print(bytes(columns.values.data).decode())
"""


def test_kernels_need_no_cython_at_run_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "MOLDAU_PURE": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "value\n", done.stderr
