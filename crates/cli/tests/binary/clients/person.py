"""Becomes a command that sits at a terminal, as a person does, with its output piped.

Usage: person.py COMMAND ARGUMENT... The process becomes the command, so that a signal to it reaches the
command itself.
"""

import os
import pty
import sys

terminal, seat = pty.openpty()
# The terminal lives as long as the command holds its other end.
os.set_inheritable(terminal, True)
os.dup2(seat, 0)
os.dup2(seat, 2)
os.execv(sys.argv[1], sys.argv[1:])
