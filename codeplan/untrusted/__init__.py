"""Handles what plans, models, web pages and other people made: values and text shown in bounded size and time."""
