"""The commands of the command line, a module each, named like it.

A command has a HELP of one line, a DESCRIPTION, EXAMPLES, ``add_arguments(parser)`` and
``run(options)``. Naming the module here makes it a command. NumPy, scikit-learn and all that import
them are imported once a command runs, so that help and wrong arguments are answered at once.
"""

from relvec._commands import completion, demo, export, fit, predict, report

COMMANDS = (fit, predict, report, export, demo, completion)
