"""Speech synthesis engines behind `mirza.speech.base.Tts`."""
