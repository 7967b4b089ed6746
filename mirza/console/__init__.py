"""`mirza chat`: the conversation by keyboard. Full screen, or line by line in a pipe or a terminal that can do little.

chat.py      the command: what it takes, and which console it opens
session.py   a conversation, kept on disk, as both consoles drive it
commands.py  the commands of both
script.py    events in, what is to be shown out
plain.py     line by line           lines.py   where its lines come from
tui.py       full screen            widgets.py, transcript.py, status.py, style.py, theme.py: what it is made of
"""

from mirza.console.chat import add_arguments, run

__all__ = ["add_arguments", "run"]
