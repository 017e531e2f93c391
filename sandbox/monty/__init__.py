"""A second backend: plans run in Monty, an interpreter of Python written in Rust."""
