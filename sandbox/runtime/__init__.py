"""The runtime of a plan inside the worker: its namespace, guards, façades and safe builtins."""
