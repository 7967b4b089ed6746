"""Speech recognition engines behind `mirza.speech.base.Stt`."""
