"""What is packed is all that a reader needs, without the driver's own packages."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from moldau.records.fetched import kernel
from moldau.spark import packing


def test_the_archive_is_importable_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "moldau.tar.gz"
    packing.main([str(archive)])
    assert f"--archives {archive}#moldau" in capsys.readouterr().out
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    code = (
        "import moldau, cramjam, moldau.records.fetched as fetched; "
        "print(moldau.__file__, cramjam.__file__, fetched.kernel.__name__)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tmp_path / "unpacked")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    ours, codecs, kernel_name = run.stdout.split()
    assert Path(ours).is_relative_to(tmp_path)
    assert Path(codecs).is_relative_to(tmp_path)
    assert kernel_name == kernel.__name__


def test_without_a_name_it_says_what_it_wants() -> None:
    with pytest.raises(SystemExit, match="ARCHIVE"):
        packing.main([])
