"""Samples to words and back: the four seams in `base`, turn taking in `turns`, speakable text in `text`."""
