"""What a kernel's source needs of the `cython` module where Cython is not installed."""

from contextlib import nullcontext

compiled = False
nogil = nullcontext()
