"""What is compiled of this package, where that was built: offsets and their codec."""

from typing import TYPE_CHECKING

from moldau.runtime.native import kernel

if TYPE_CHECKING:
    from moldau.coordinator.group import offset_codec
    from moldau.coordinator.group.offsets import Offsets
else:
    offset_codec = kernel(
        "moldau.coordinator.group._offset_codec", "moldau.coordinator.group.offset_codec"
    )
    Offsets = kernel(
        "moldau.coordinator.group._offsets", "moldau.coordinator.group.offsets"
    ).Offsets

__all__ = ["Offsets", "offset_codec"]
