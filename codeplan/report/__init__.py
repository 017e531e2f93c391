"""Events made readable: the live display, and the pieces that it is made of."""
