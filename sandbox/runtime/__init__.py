"""What a plan runs on inside the worker: its namespace, guards, façades and safe builtins."""
