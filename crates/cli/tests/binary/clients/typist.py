"""Runs a command on a terminal of its own and types a line at each prompt.

Usage: typist.py LINES COMMAND ARGUMENT..., where LINES are separated by line breaks. A prompt is
output that ends with a colon and a space, once the terminal has stopped to show what is typed. Prints
what the terminal showed, ends as the command did.
"""

import os
import pty
import sys
import termios
import time

lines = [line for line in sys.argv[1].split("\n") if line]
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if shown.endswith(b": ") and lines:
        while termios.tcgetattr(terminal)[3] & termios.ECHO:
            time.sleep(0.005)
        os.write(terminal, lines.pop(0).encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
