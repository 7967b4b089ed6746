"""`mirza bench`: numbers that can be made again."""
