"""Sound in and out: the seam in `base`, what is queued for the loudspeaker in `player`, devices and files beside them."""
