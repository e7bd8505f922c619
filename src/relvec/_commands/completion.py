"""``relvec completion``: a script that has a shell complete the words of the commands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from relvec._commands.files import need

SHELLS = ("bash", "zsh", "tcsh")
HELP = "print a script for the shell that completes these words"
DESCRIPTION = (
    "Print a script that has a shell complete the commands, their options, what "
    "these may be, and the names of files. Bash and zsh read it from the files below when "
    "they start."
)
EXAMPLES = """\
completion bash > ~/.local/share/bash-completion/completions/relvec
completion zsh > ~/.zfunc/_relvec"""


def run(options: Namespace) -> None:
    """Print the script."""
    print(need("shtab").complete(options.parser, shell=options.shell))


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")
