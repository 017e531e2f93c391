"""The cage: the locked worker processes that check, analyse and run plans, and the zygotes that fork them."""
