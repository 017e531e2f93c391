"""The host's side of the sandbox. It starts workers, exchanges frames with them, and verifies every frame that they
send.
"""
