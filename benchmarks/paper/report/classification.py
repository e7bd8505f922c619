"""The benchmark table of section 4.4.2: errors and vectors of classifiers."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.paper import usps
from benchmarks.paper.classification import PROBLEMS, Measured, Problem, measure
from benchmarks.paper.report.comparison import Found, comparison
from benchmarks.paper.report.page import Part, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.widths import searched_rvc, searched_svc
from benchmarks.staged import Split, load_usps

N_SPLITS = 10
CRITERIA = ["log loss", "errors"]
COLUMNS = [f"RVC, width by {criterion}" for criterion in CRITERIA]
DIGITS = "usps"
ALL_PROBLEMS = PROBLEMS | {DIGITS: Problem(lambda: [load_usps()], usps.PAPER_SVM, usps.PAPER_RVM)}
#: What takes more than a minute.
SLOW = ["german", "image", DIGITS]


class Row(NamedTuple):
    """What was measured on one problem, the RVC with its width by each criterion."""

    split: Split
    n_splits: int
    svc: Measured
    rvc: dict[str, Measured]
    seconds: float

    @property
    def measured(self) -> list[Measured]:
        return [self.svc, *(self.rvc[criterion] for criterion in CRITERIA)]


def build(settings: Settings) -> Part:
    n_splits = min(settings.count(N_SPLITS), N_SPLITS)
    part = Part(
        "Section 4.4.2: classification",
        [
            "The paper's own splits: the first of Rätsch's hundred, and the one split of Pima and "
            "of the digits. Inputs are standardised. C and width of the SVC have the fewest errors "
            "in 5-fold cross-validation of training rows; the width of the RVC has the least log "
            "loss, or the fewest errors. The digits have ten models, one a class against the "
            "rest, and their parameters are chosen on 1000 training rows.",
        ],
        f"{n_splits} splits a problem where there are more than one; folds have the seeds 0 to 4. "
        "± is the standard error over splits, for a single split that of a share of its test rows.",
    )
    rows = {}
    for name, problem in ALL_PROBLEMS.items():
        if settings.quick and name in SLOW:
            part.missing.append(f"Section 4.4.2, {name}: takes too long for a quick report")
            continue
        with part.names_missing_data(f"Section 4.4.2, {name}"):
            splits = problem.load()[:n_splits]
            rows[name] = (measured_digits if name == DIGITS else measured)(splits, settings)
    part.contents = [
        table("Error, %", "error", 0, rows),
        table("Vectors", "vectors", 1, rows),
        seconds(rows),
    ]
    return part


def measured(splits: Sequence[Split], settings: Settings) -> Row:
    start = time.perf_counter()
    n_inputs = splits[0].X_train.shape[1]
    (svc,) = measure(searched_svc(n_inputs), splits, settings.parallel).values()
    rvc = measure(searched_rvc(n_inputs), splits, settings.parallel)
    return Row(splits[0], len(splits), svc, rvc, time.perf_counter() - start)


def measured_digits(splits: Sequence[Split], settings: Settings) -> Row:
    start = time.perf_counter()
    (split,) = splits
    svc = usps.score(usps.search_svc(split, settings.parallel), split, usps.n_support)
    rvc = {
        criterion: usps.score(machines, split, usps.n_used)
        for criterion, machines in usps.search_rvc(split, settings.parallel).items()
    }
    return Row(split, 1, svc, rvc, time.perf_counter() - start)


def table(caption: str, attribute: str, index: int, rows: dict[str, Row]) -> Table:
    """Compare errors or vectors, which stand at `index` in the paper's pairs."""
    paper = {
        name: (problem.paper_svm[index], problem.paper_rvm[index])
        for name, problem in ALL_PROBLEMS.items()
    }
    found = {}
    for name, row in rows.items():
        measured = [getattr(each, attribute)() for each in row.measured]
        texts = [f"{mean:.2f}" + (f" ± {error:.2f}" if error else "") for mean, error in measured]
        means = [mean for mean, _ in measured]
        found[name] = Found(*row.split.X_train.shape, row.n_splits, means, texts)
    return comparison(caption, "splits", ["SVC", *COLUMNS], paper, found)


def seconds(rows: dict[str, Row]) -> Table:
    return Table(
        "Seconds",
        ["problem", "SVC", *COLUMNS, "in all"],
        [
            [name, *(f"{each.seconds():.3f}" for each in row.measured), f"{row.seconds:.0f}"]
            for name, row in rows.items()
        ],
        "Means of one fit with the chosen parameters; in all, with every search.",
    )
