"""Compiled kernels: optional, built from Cython's pure-Python mode and one C file.

Each kernel is compiled under its own name beside its source, so that both can be
imported and `MOLDAU_PURE=1` can choose the source (see moldau/runtime/native.py).
Those with C types, in a .pxd beside them, compare positions themselves and begin with a line that
turns Cython's own checks off; the others are Python with the interpreter taken out.
"""

import os
import sys

from setuptools import Extension, setup

# compiled module name -> its source; a `.py` goes through Cython.
KERNELS = {
    "moldau.records._crc32c": "src/moldau/records/crc32c_native.c",
    "moldau.records._kernel": "src/moldau/records/kernel.py",
    "moldau.records._kernel_build": "src/moldau/records/kernel_build.py",
    "moldau.records._opening": "src/moldau/records/opening.py",
    "moldau.records._validate": "src/moldau/records/validate.py",
    "moldau.client.producer._intake": "src/moldau/client/producer/intake.py",
    "moldau.net._receive_buffer": "src/moldau/net/receive_buffer.py",
    "moldau.net._outgoing": "src/moldau/net/outgoing.py",
    "moldau.net._connection": "src/moldau/net/connection.py",
    "moldau.net._sockets": "src/moldau/net/sockets.py",
    "moldau.broker.quotas._rates": "src/moldau/broker/quotas/rates.py",
    "moldau.broker.quotas._client_sensors": "src/moldau/broker/quotas/client_sensors.py",
    "moldau.net._tls_records": "src/moldau/net/tls_records.py",
    "moldau.net._tls_transport": "src/moldau/net/tls_transport.py",
    "moldau.broker.requests._produce": "src/moldau/broker/requests/produce.py",
    "moldau.broker.fast._produce_frame": "src/moldau/broker/fast/produce_frame.py",
    "moldau.broker.fast._produce": "src/moldau/broker/fast/produce.py",
    "moldau.broker.fast._fetch_frame": "src/moldau/broker/fast/fetch_frame.py",
    "moldau.broker.fast._fetch_answer": "src/moldau/broker/fast/fetch_answer.py",
    "moldau.broker.requests._fetch": "src/moldau/broker/requests/fetch.py",
    "moldau.broker.requests._reads": "src/moldau/broker/requests/reads.py",
    "moldau.broker.requests._offset_commits": "src/moldau/broker/requests/offset_commits.py",
    "moldau.broker.fast._offset_commit": "src/moldau/broker/fast/offset_commit.py",
    "moldau.coordinator.group._offsets": "src/moldau/coordinator/group/offsets.py",
    "moldau.coordinator.group._offset_codec": "src/moldau/coordinator/group/offset_codec.py",
    "moldau.log._appending": "src/moldau/log/appending.py",
    "moldau.log._key_map": "src/moldau/log/key_map.py",
    "moldau.log._cleaner_kernel": "src/moldau/log/cleaner_kernel.py",
    "moldau.connect.converters._json_structs": "src/moldau/connect/converters/json_structs.py",
}

# Cython's own support code, generated once instead of into every kernel: half of the compiling.
SHARED = "moldau.runtime._cython"
SHARED_SOURCE = "src/moldau/runtime/_cython.c"

# The first use of a clone waits for the compiler. Debug information would double that time, and
# so would -O3, which gains nothing once what a kernel calls per record is inlined; compilers
# are not left to judge that.
INLINE = "-DCYTHON_INLINE=__inline__ __attribute__((always_inline))"
IS_MSVC = sys.platform == "win32"
KERNEL_FLAGS = ["/O2"] if IS_MSVC else ["-O1", "-g0", INLINE]
C_FLAGS = ["/O2"] if IS_MSVC else ["-O3", "-g0"]
SHARED_FLAGS = ["/O1"] if IS_MSVC else ["-O1", "-g0"]


DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,
    # Nobody pickles a kernel or asks it for signatures: a third less to compile.
    "auto_pickle": False,
    "binding": False,
}


def extensions() -> list[Extension]:
    if os.environ.get("MOLDAU_PURE", "") not in ("", "0"):
        return []
    built = [
        Extension(
            name,
            [source],
            extra_compile_args=C_FLAGS if source.endswith(".c") else KERNEL_FLAGS,
            optional=True,
        )
        for name, source in KERNELS.items()
        if os.path.exists(source)
    ]
    try:
        from Cython.Build import cythonize  # noqa: PLC0415 - optional
    except ImportError:
        return [e for e in built if e.sources[0].endswith(".c")]
    is_shared = any(extension.sources[0].endswith(".py") for extension in built)
    if is_shared:
        shared = Extension(SHARED, [SHARED_SOURCE], extra_compile_args=SHARED_FLAGS, optional=True)
        built.append(shared)
    compiled: list[Extension] = cythonize(
        built,
        compiler_directives=DIRECTIVES,
        build_dir="build/cython",
        force=True,  # a .pxd that is named after the compiled module is not seen to change
        nthreads=os.cpu_count() or 1,
        shared_utility_qualified_name=SHARED if is_shared else None,
    )
    for extension in compiled:
        extension.optional = True  # Cython makes new extensions, and leaves this out of them
    return compiled


if __name__ == "__main__":  # Cython's workers import this file where processes are spawned
    setup(ext_modules=extensions())
