"""Merges a reply that holds only steps into the plan that it changes."""
