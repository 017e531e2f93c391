"""The data that the host and the worker exchange: frames, checkpoints, plain values."""
