"""The stand-in's rules for nine kinds of ScienceWorld's tasks."""
