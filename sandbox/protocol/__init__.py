"""What the host and the worker say to each other: frames, checkpoints, plain values."""
