"""One episode from names: run, resume, replay, fork. ``codeplan`` hands on what users call."""
