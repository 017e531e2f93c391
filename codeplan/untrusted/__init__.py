"""Handles data from plans, models, web pages and other people: shows values and text in bounded size and time."""
