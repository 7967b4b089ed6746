"""A stream of written text in, speakable pieces out.

    written ─▶ markup ─▶ clean text ─▶ segment ─▶ sentences ─▶ verbalise ─▶ pieces
     deltas    what is not for the     where one may be       numbers, dates,
               voice goes silent       cut, once certain      symbols as said

Nothing here does I/O or waits: push text, take pieces. Open `stream.py` first.
"""

from mirza.speech.text.pieces import Piece, Tie
from mirza.speech.text.stream import SpeechText

__all__ = ["Piece", "SpeechText", "Tie"]
