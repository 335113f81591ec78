"""The compact descriptor that a kernel reads."""

from compilemask.descriptor.build import build_descriptor, descriptor_from_dense
from compilemask.descriptor.descriptor import Descriptor, TileLists

__all__ = ["Descriptor", "TileLists", "build_descriptor", "descriptor_from_dense"]
