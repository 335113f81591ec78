"""Texts of masks that several tests share."""

BATCHED = """
param lengths per batch = [[3, 6], [9]]
heads 2
layout
    token : lengths
rules when head == 0
    token sees token : causal within token
rules when head == 1
    token sees token : causal
"""
"""Two samples and two heads, told apart as four masks, of which three are causal: 9 queries and keys."""
