"""Figure 3: Ripley's mixture of Gaussians, by support and relevance vectors."""

import numpy as np
from joblib import delayed

from benchmarks.paper import ripley
from benchmarks.paper.draws import ENTROPY, seeds
from benchmarks.paper.report.page import Part, Picture, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.ripley import PAPER_RVM, PAPER_SVM, Draw
from benchmarks.table import format_mean

N_DRAWS = 20


def build(settings: Settings) -> Part:
    n_draws = settings.count(N_DRAWS)
    part = Part(
        "Figure 3: two classes",
        [
            "100 of the 250 training rows of Ripley's mixture, drawn anew each time, and the 1000 "
            "test rows; a Gaussian kernel with r = 0.5. C of the SVC minimises the errors of "
            "5-fold cross-validation."
        ],
        f"{n_draws} draws, seeds from numpy.random.SeedSequence({ENTROPY}); the first is drawn.",
    )
    with part.names_missing_data("Figure 3"):
        draws = settings.parallel(delayed(ripley.draw)(seed) for seed in seeds(n_draws))
        part.contents = [picture(draws[0]), table(draws)]
    return part


def picture(draw: Draw) -> Picture:
    return Picture(
        ripley.picture(draw),
        f"Two maps of two classes: {len(draw.svc.support_)} and {len(draw.rvc.relevance_)} rows "
        "circled, with the boundaries.",
        "Figure 3: SVC (left) and RVC (right). The decision boundary is dashed; for the RVC the "
        "probabilities 1/4 and 3/4 are dotted. Vectors are circled.",
    )


def table(draws: list[Draw]) -> Table:
    errors = np.array([[draw.error(draw.svc), draw.error(draw.rvc)] for draw in draws])
    vectors = np.array([[len(draw.svc.support_), len(draw.rvc.relevance_)] for draw in draws])
    difference = errors[:, 1] - errors[:, 0]
    paper_errors, paper_vectors = zip(PAPER_SVM, PAPER_RVM, strict=True)
    as_good = [f"{share:.0%}" for share in np.mean(errors <= paper_errors, axis=0)]
    return Table(
        "Figure 3 in numbers",
        ["", "paper SVM", "paper RVM", "SVC", "RVC"],
        [
            ["test error, %", *map("{:g}".format, paper_errors), *map(format_mean, errors.T)],
            ["vectors", *map("{:g}".format, paper_vectors), *map(format_mean, vectors.T)],
            [
                "draws with no larger an error than the paper's",
                "",
                "",
                *as_good,
            ],
        ],
        f"Error of the RVC less that of the SVC on the same draw: {format_mean(difference)}.",
    )
