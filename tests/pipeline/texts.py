"""Mask texts and readings that several tests of the pipeline use."""

from __future__ import annotations

from compilemask.pipeline import CompiledMask

SHARED_PROMPT = """
title "Shared prompt"
param prompt = 37, answers = [23, 0, 41]
layout
    prompt : prompt
    answer : answers
rules
    prompt sees prompt : causal
    answer sees prompt : all
    answer sees answer : causal within answer
"""


def codes(compiled: CompiledMask) -> dict[str, str]:
    """Message by code, warnings and notes."""
    return {found.code: found.message for found in compiled.diagnostics}
