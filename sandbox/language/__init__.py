"""The plan language: its syntax, its check, its compiler, and the guards of running plans."""
