"""The few things that C does with memory and Python does otherwise.

`memory.pxd` holds their compiled form: there a view becomes a pointer and a copy a `memcpy`,
so the kernels read the same either way.
"""


def address(view: memoryview) -> memoryview:
    """Where the bytes of `view` begin; in Python a view is used as it is."""
    return view


def copy_bytes(
    target: memoryview, target_position: int, source: memoryview, position: int, size: int
) -> None:
    """Copy `size` bytes from `source` at `position` to `target` at `target_position`."""
    target[target_position : target_position + size] = source[position : position + size]
