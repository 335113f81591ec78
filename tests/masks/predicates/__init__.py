"""What every library mask must be, written without the language: plain numpy over all cells."""

from __future__ import annotations

from tests.masks.predicates import documents, grids, prompts, recommendation, sequences, sparse, systems, tables
from tests.masks.predicates.registry import REGISTRY, Mask, Parameters, Predicate

__all__ = [
    "REGISTRY",
    "Mask",
    "Parameters",
    "Predicate",
    "documents",
    "grids",
    "prompts",
    "recommendation",
    "sequences",
    "sparse",
    "systems",
    "tables",
]
