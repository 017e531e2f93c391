"""Transformations of plan text: generalisation, merging, mutants."""
