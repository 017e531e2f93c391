"""Mends plans with libcst: each module holds the fixes of one subject, ``mending`` applies them all."""
