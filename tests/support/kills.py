"""Processes that are killed while they write files, and what they leave.

    python -m tests.support.kills COUNT FOLDER

kills COUNT processes for each kind of file, each at a random moment while it writes one of two
files over the other again and again. Prints, as JSON, what was wrong: files that could not be read
back, and other files in the folder after the next write.
"""

import json
import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from relvec import RVR, storage
from relvec._commands.tables import write_table
from relvec._files import write_file
from relvec._runner import Checkpoint, checkpoint
from relvec.datasets import make_sinc


def models(path):
    """Functions that write a model of one width or another, and that read the width."""
    X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    made = [RVR(gamma=gamma).fit(X, y) for gamma in (0.1, 0.2)]
    widths = [model.gamma for model in made]
    return (
        lambda turn: storage.save(made[turn], path),
        lambda: widths.index(storage.load(path, trust_pickle=True).gamma),
    )


def checkpoints(path):
    """Functions that write a checkpoint of zeros or ones, and that read them."""
    checkpoint.SHARE = np.inf

    def read():
        with Checkpoint(path, {}).part() as part:
            (value,) = np.unique(part.result)
        return int(value)

    return lambda turn: Checkpoint(path, {}).put(0, np.full(20_000, turn)), read


def predictions(path):
    """Functions that write one of two tables, and that read it."""
    tables = [pd.DataFrame({"mean": np.full(rows, 0.5)}) for rows in (2000, 3000)]

    def read():
        found = {".csv": pd.read_csv, ".parquet": pd.read_parquet}[path.suffix](path)
        return [found.equals(table) for table in tables].index(True)

    return lambda turn: write_table(tables[turn], path), read


def reports(path):
    """Functions that write one of two pages, and that read it."""
    pages = [b"<html>" + sign * 500_000 + b"</html>" for sign in (b"a", b"b")]
    return lambda turn: write_file(path, pages[turn]), lambda: pages.index(path.read_bytes())


KINDS = {
    "model.skops": models,
    "model.joblib": models,
    "fit.checkpoint": checkpoints,
    "predictions.csv": predictions,
    "predictions.parquet": predictions,
    "report.html": reports,
}


def kill(write, seconds):
    """Kill a process that writes again and again, at a random moment of the first few writes."""
    process = os.fork()
    if not process:
        try:
            for turn in count():
                write(turn % 2)
        finally:
            os._exit(1)
    time.sleep(random.uniform(0, 5 * seconds))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        raise RuntimeError(f"a process that writes ended by itself, with {status}")


def left_by(kills, path, write, read):
    """Kill so many processes, and yield what was wrong after each."""
    write(0)  # which imports and compiles
    began = time.perf_counter()
    write(1)
    seconds = time.perf_counter() - began
    for _ in range(kills):
        kill(write, seconds)
        try:
            read()
        except Exception as error:
            yield f"{path.name} is not whole: {error!r}"
    write(0)
    yield from (f"{other.name} is left" for other in path.parent.iterdir() if other != path)


if __name__ == "__main__":
    found = []
    for name, kind in KINDS.items():
        place = Path(sys.argv[2], f"folder of {name}")
        place.mkdir()
        found += left_by(int(sys.argv[1]), place / name, *kind(place / name))
    sys.stdout.write(json.dumps(found))
