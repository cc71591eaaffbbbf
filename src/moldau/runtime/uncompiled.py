"""What a kernel's source needs of the `cython` module where Cython is not installed."""

compiled = False
