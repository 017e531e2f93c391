"""Analyses and transformations of plan text, which run in the cage. See ``topics``."""
