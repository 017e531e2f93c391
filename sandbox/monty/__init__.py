"""A second backend, for machines without the Linux cage."""
