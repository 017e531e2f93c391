"""The cage: the locked process in which plans are checked and run, and the zygote that it is forked from."""
