"""How things are said that are not said as they are written: one file a kind, one function a form."""
