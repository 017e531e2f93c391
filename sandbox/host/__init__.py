"""The host's side of the sandbox. It starts workers, talks to them, and verifies everything that they say."""
