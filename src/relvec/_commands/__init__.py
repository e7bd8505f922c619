"""The commands of the command line, a module each.

A command is a module with ``add(commands)``, which adds its parser by `add_command`, under its
name; the parser's ``run`` takes the parsed words. Naming the module here makes it a command.
"""

from relvec._commands import completion, demo, export, fit, predict, report

COMMANDS = (fit, predict, report, export, demo, completion)
