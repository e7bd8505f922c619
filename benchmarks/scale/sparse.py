"""Tables of terms, beside linear models whose penalties are searched by cross-validation.

Documents of a hundred words are drawn by Zipf's law and weighed as TF-IDF. A target is a sum of
some of the terms with normal noise, and each class has terms of its own, which a tenth of the words
are. A quarter of the documents is held out. Memory is the most that the fit holds beside X.
"""

import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split

from benchmarks.scale.report import Line, at_most, print_lines
from relvec import SparseBayesianClassifier, SparseBayesianRegressor

Array = np.ndarray

WORDS, OWN, OWN_SHARE, N_TRUE = 100, 10, 0.1, 20
#: Standard deviation of the noise in that of what terms explain.
NOISE = 0.5
PENALTIES = {"alpha": np.logspace(-3, 3, 7)}
TIMES_TABLE, POINTS = 10, 1.0


class Size(NamedTuple):
    """Documents, terms and classes."""

    documents: int
    terms: int
    classes: int


FULL, QUICK = Size(20_000, 50_000, 20), Size(2000, 5000, 5)


def run(quick: bool) -> None:
    size = QUICK if quick else FULL
    for measured in (numbers, labels):
        title, lines = measured(size)
        print_lines(f"{size.documents} documents x {size.terms} terms, {title}", lines)


def numbers(size: Size) -> tuple[str, list[Line]]:
    """One target of so many terms, beside ridge regression."""
    X, _ = documents(size)
    true, rng = common_terms()[:N_TRUE], np.random.RandomState(1)
    signal = X[:, true] @ rng.choice([-1.0, 1.0], N_TRUE)
    y = signal / signal.std() + NOISE * rng.standard_normal(len(signal))
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = SparseBayesianRegressor()
    memory = times_table(lambda: model.fit(X_train, y_train), X_train)
    ridge = GridSearchCV(Ridge(), PENALTIES, cv=3).fit(X_train, y_train)
    errors = [
        100 * float(np.std(y_test - each.predict(X_test)) / np.std(y_test))
        for each in (model, ridge)
    ]
    found = len(np.intersect1d(true, model.relevance_))
    title = (
        f"one target: {len(model.relevance_)} terms kept, {found} of them of the {N_TRUE} true "
        f"ones; errors {errors[0]:.2f} and by Ridge {errors[1]:.2f} % of the target's deviation"
    )
    return title, promised(memory, errors)


def labels(size: Size) -> tuple[str, list[Line]]:
    """Several classes, each by itself, beside stochastic gradient descent."""
    X, y = documents(size)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = SparseBayesianClassifier(multi_class="ovr")
    memory = times_table(lambda: model.fit(X_train, y_train), X_train)
    descent = SGDClassifier(loss="log_loss", random_state=0)
    searched = GridSearchCV(descent, {"alpha": np.logspace(-7, -3, 5)}, cv=3).fit(X_train, y_train)
    errors = [100 * float(np.mean(each.predict(X_test) != y_test)) for each in (model, searched)]
    own = terms_of_classes(size).ravel()
    found = len(np.intersect1d(own, model.relevance_))
    title = (
        f"{size.classes} classes: {len(model.relevance_)} terms kept, {found} of them of the "
        f"{len(own)} of classes; errors {errors[0]:.2f} and by SGDClassifier {errors[1]:.2f} %"
    )
    return title, promised(memory, errors)


def promised(memory: float, errors: list[float]) -> list[Line]:
    return [
        at_most("memory of the fit beside that of X", TIMES_TABLE, memory, "x"),
        at_most("error beyond the other's", POINTS, errors[0] - errors[1], " points"),
    ]


def documents(size: Size) -> tuple[Any, Array]:
    """TF-IDF of documents, and the class of each."""
    rng = np.random.RandomState(0)
    shares = 1 / np.arange(1, size.terms + 1)
    drawn = np.searchsorted(
        np.cumsum(shares) / shares.sum(), rng.uniform(size=(size.documents, WORDS))
    )
    classes = rng.randint(size.classes, size=size.documents)
    own = terms_of_classes(size)[classes[:, None], rng.randint(OWN, size=drawn.shape)]
    words = np.where(rng.uniform(size=drawn.shape) < OWN_SHARE, own, drawn)
    ends = np.arange(0, words.size + 1, WORDS, dtype=np.int32)
    where = words.ravel().astype(np.int32), ends
    counts = csr_array((np.ones(words.size), *where), (size.documents, size.terms))
    counts.sum_duplicates()
    return csr_array(TfidfTransformer().fit_transform(counts)), classes


def common_terms() -> Array:
    """Terms that many documents have, in no order of how many."""
    return np.random.RandomState(2).permutation(np.arange(50, 1050))


def terms_of_classes(size: Size) -> Array:
    """The terms of each class."""
    return common_terms()[N_TRUE:][: size.classes * OWN].reshape(size.classes, OWN)


def times_table(fit: Callable[[], object], X: Any) -> float:
    """The most memory that a fit holds, as a multiple of that of its table."""
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak / (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes))
