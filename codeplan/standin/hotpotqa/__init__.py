"""The stand-in's rules for HotpotQA."""
