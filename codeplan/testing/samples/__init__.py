"""Sample environments and plans that the backend contract runs."""
