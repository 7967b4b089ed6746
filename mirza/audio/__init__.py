"""Sound in and out: the seam in `base`, the queue for the loudspeaker in `player`, devices and files beside them."""
