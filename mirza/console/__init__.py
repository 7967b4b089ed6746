"""The same conversation by keyboard."""
