"""The choice between a compiled kernel and the Python source it was compiled from."""

import importlib
import logging
import os
from types import ModuleType

_log = logging.getLogger(__name__)
_warned: list[str] = []


def pure_python_wanted() -> bool:
    """`MOLDAU_PURE=1` runs every kernel from its Python source."""
    return os.environ.get("MOLDAU_PURE", "") not in ("", "0")


def kernel(compiled: str, source: str) -> ModuleType:
    """Import `compiled` if it was built and is wanted, else `source`.

    A missing extension is not an error: without a C compiler everything works,
    only slower, and the first kernel that is missed says so.
    """
    if not pure_python_wanted():
        try:
            return importlib.import_module(compiled)
        except ImportError as error:
            warn_once(
                f"running without compiled kernels, much slower ({error}); "
                "install a C compiler and reinstall moldau to build them"
            )
    return importlib.import_module(source)


def warn_once(message: str) -> None:
    """Warn about a slow fallback, once per process."""
    if not _warned:
        _warned.append(message)
        _log.warning("%s", message)
