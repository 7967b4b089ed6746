"""How the full screen looks, in Textual's CSS. Colours come from the theme: by default the terminal's own."""

CSS = """
Screen { layout: vertical; }

#transcript { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
#earlier, #later { color: $text-muted; text-align: center; width: 1fr; }

.question { border-left: thick $primary; padding: 0 1; margin: 1 0 0 0; text-style: bold; }
.reply { height: auto; margin: 1 0 0 0; }
.plain { margin: 1 0 0 0; padding: 0 2 1 2; }
.said { margin: 0; padding: 0 2; }
.thought { margin: 0; padding: 0 1; border: none; background: transparent; }
.thought-text { color: $text-muted; text-style: italic; border-left: solid $secondary; padding: 0 1; margin: 0 0 1 0; }
.tools { color: $text-muted; padding: 0 2; }
.ending { color: $text-warning; padding: 0 2; }
.note { color: $text-muted; padding: 0 2; margin: 1 0 0 0; }
.trouble { color: $text-error; border-left: thick $error; padding: 0 1; margin: 1 0 0 0; }

#live { height: 1; padding: 0 1; color: $text-muted; }
#prompt { height: auto; max-height: 10; border-top: solid $primary; border-bottom: none; padding: 0 1; }
#status { height: 1; }

.hidden { display: none; }

.-narrow #transcript { padding: 0; }
.-narrow .said, .-narrow .note { padding: 0 1; }
.-narrow .plain { padding: 0 1 1 1; }
"""
