"""Mirza: a private voice assistant that runs on your own computer."""

__version__ = "0.1.0"
