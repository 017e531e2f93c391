"""The host's side of the sandbox: it starts workers, talks to them, and trusts no answer."""
