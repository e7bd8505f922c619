"""``relvec completion``: a script that has a shell complete the words of the commands."""

from __future__ import annotations

from relvec._commands.arguments import Commands, Options, add_command
from relvec._commands.files import need

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """\
completion bash > ~/.local/share/bash-completion/completions/relvec
completion zsh > ~/.zfunc/_relvec"""


def run(options: Options) -> None:
    """Print the script."""
    print(need("shtab").complete(options.parser, shell=options.shell))


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "completion",
        run,
        help="print a script for the shell that completes these words",
        description="Print a script that has a shell complete the commands, their options, what "
        "these may be, and the names of files. Bash and zsh read it from the files below when "
        "they start.",
        examples=EXAMPLES,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
