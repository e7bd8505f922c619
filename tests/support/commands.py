"""Files for the commands, and what they print."""

from pathlib import Path

from relvec._commands.main import main


def write(table, path):
    """Write a table in the format that the path says, and return the path as a word."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return str(path)


def report(text):
    """Split a printed report into its lines by name."""
    return {line[:19].strip(): line[19:] for line in text.splitlines()}


def error_of(capsys, arguments):
    """Run a command that must fail and return its only line on standard error."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    return err


class Touch:
    """An object whose pickle makes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)
