"""Language models: the seam in `base`, and the engines behind it."""
