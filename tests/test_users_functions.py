"""Functions of users' own: what they may be given, and values that are no real numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict

from relvec import RVC, RVR, compare
from relvec._design import ArrayBlocks
from relvec.basis import RBF, CallableKernel, Columns, FunctionColumns, Kernel

WORDS = np.array(["abab", "ababa", "bbbb", "bbba", "abba", "aaaa", "baab", "abbb"] * 8)
PAIRS = ("aa", "ab", "ba", "bb")


def common(A, B):
    """Number of pairs of letters that texts have in common."""
    rows = np.ravel(A).tolist(), np.ravel(B).tolist()
    return np.array(
        [[sum(min(a.count(p), b.count(p)) for p in PAIRS) for b in rows[1]] for a in rows[0]], float
    )


def counts(A):
    return np.array([[a.count(p) for p in PAIRS] for a in np.ravel(A).tolist()], float)


def overlap(A, B):
    return np.array([[len(set(a) & set(b)) for b in np.ravel(B)] for a in np.ravel(A)], float)


def as_lists(words):
    rows = np.empty((len(words), 1), dtype=object)
    rows[:, 0] = [list(word) for word in words]
    return rows


@pytest.fixture
def y():
    noise = 0.05 * np.random.default_rng(0).standard_normal(len(WORDS))
    return np.array([word.count("ab") for word in WORDS]) + noise


TEXTS = {
    "numpy": WORDS[:, None],
    "objects": WORDS[:, None].astype(object),
    "a list": WORDS[:, None].tolist(),
    "pandas": pd.DataFrame({"word": WORDS}),
    "arrow": pd.DataFrame({"word": pd.Series(WORDS, dtype="string[pyarrow]")}),
    "categorical": pd.DataFrame({"word": pd.Categorical(WORDS)}),
}


if hasattr(np.dtypes, "StringDType"):  # NumPy 2 has it
    TEXTS["any length"] = WORDS[:, None].astype(np.dtypes.StringDType())


@pytest.mark.parametrize("X", TEXTS.values(), ids=TEXTS)
def test_a_kernel_of_texts_is_the_kernel_matrix(X, y):
    K = common(WORDS, WORDS)
    model, given = RVR(common).fit(X, y), RVR("precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(X), given.predict(K), atol=1e-8)
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_)
    assert set(np.ravel(model.relevance_vectors_)) <= set(WORDS)
    assert model.diagnose(X, y).codes == []


@pytest.mark.parametrize(
    "kernel",
    [
        CallableKernel(common) + CallableKernel(lambda A, B: common(A, B) ** 2),
        [common, FunctionColumns(counts)],
        FunctionColumns(counts),
    ],
    ids=["sum", "beside columns", "columns"],
)
def test_several_functions_of_texts(kernel, y):
    X = WORDS[:, None]
    assert np.abs(RVR(kernel).fit(X, y).predict(X) - y).max() < 0.3


def test_objects_of_any_kind(y):
    X = as_lists(WORDS)
    model = RVC(overlap).fit(X, np.char.find(WORDS, "a") >= 0)
    assert model.score(X, np.char.find(WORDS, "a") >= 0) == 1


class Graph:
    """Vertices with labels, and edges; without an order or a hash of its own."""

    def __init__(self, labels, edges):
        self.labels, self.edges = labels, edges


def as_graph(kind, labels, edges):
    kinds = {
        "object": Graph(labels, edges),
        "tuple": (tuple(labels), tuple(edges)),
        "list": [labels, edges],
        "dict": {"labels": labels, "edges": edges},
        "array": np.array([(labels[a], labels[b]) for a, b in edges]).reshape(-1, 2),
    }
    return kinds[kind]


def graphs(kind, rng, n=50):
    """Graphs, each in a cell, and the number of their edges between like vertices."""
    X, found = np.empty((n, 1), dtype=object), np.empty(n)
    for row in range(n):
        labels = rng.integers(0, 3, rng.integers(3, 8)).tolist()
        edges = [(a, b) for a in range(len(labels)) for b in range(a) if rng.uniform() < 0.5]
        X[row, 0], found[row] = (
            as_graph(kind, labels, edges),
            sum(labels[a] == labels[b] for a, b in edges),
        )
    return X, found + 0.1 * rng.standard_normal(n)


def edges_in_common(A, B):
    """Products of the numbers of edges between vertices of any two labels."""

    def counted(graph):
        if isinstance(graph, np.ndarray):
            pairs = graph.tolist()
        else:
            if isinstance(graph, Graph | dict):
                held = graph if isinstance(graph, dict) else vars(graph)
                graph = held["labels"], held["edges"]
            pairs = [(graph[0][a], graph[0][b]) for a, b in graph[1]]
        return [
            sum(sorted(pair) == [i, j] for pair in pairs) for i in range(3) for j in range(i, 3)
        ]

    own = [np.array([counted(row[0]) for row in rows], dtype=float) for rows in (A, B)]
    return own[0] @ own[1].T


@pytest.mark.parametrize("kind", ["object", "tuple", "list", "dict", "array"])
def test_graphs_of_any_kind(kind, rng):
    """As the kernel matrix of the same graphs, which is given by itself."""
    X, y = graphs(kind, rng)
    model = RVR(edges_in_common).fit(X, y)
    K = edges_in_common(X, X)
    known = RVR("precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(X), known.predict(K), atol=1e-6)
    assert model.score(X, y) > 0.9
    assert isinstance(model.diagnose(X, y).codes, list)
    process = RVR(edges_in_common, remainder="process").fit(X, y)
    mean, std = process.predict(X[:3], return_std=True)
    assert np.isfinite([mean, std]).all()
    labels = np.where(y > np.median(y), "many", "few")
    assert RVC(edges_in_common).fit(X, labels).score(X, labels) > 0.9


def test_texts_in_cross_validation_and_out_of_memory_limits(y):
    X = WORDS[:, None]
    assert np.abs(cross_val_predict(RVR(common), X, y) - y).max() < 0.5
    whole, blocks = RVR(common).fit(X, y), RVR(common, memory_limit=100).fit(X, y)
    np.testing.assert_allclose(blocks.predict(X), whole.predict(X), atol=1e-8)
    augmented = RVR(common, augment=True).fit(X, y)
    assert (augmented.predict(X, return_std=True)[1] > 0).all()


def test_numbers_among_objects_are_handed_on_as_numbers(rng):
    X = rng.standard_normal((30, 2))
    given = []
    kernel = RVR(lambda A, B: given.append((A, B)) or np.exp(-((A[:, :1] - B[:, :1].T) ** 2)))
    kernel.fit(X.astype(object), np.sin(X[:, 0]) + 0.1 * rng.standard_normal(30))
    assert {part.dtype for pair in given for part in pair} == {np.dtype(np.float64)}


@pytest.mark.parametrize("stray", ["3,5", {"value": 3.5}], ids=["text", "object"])
def test_what_is_no_number_in_a_column_of_numbers_is_refused(stray, rng):
    X = rng.standard_normal((30, 2)).astype(object)
    y = np.sin(X[:, 0].astype(float)) + 0.1 * rng.standard_normal(30)
    basis = CallableKernel(lambda A, B: np.exp(-((A[:, :1] - B[:, :1].T) ** 2)))
    model = RVR(basis).fit(X, y)
    basis.fit(X)
    X[4, 0] = stray
    for asked in (basis.fit, basis.transform, model.predict, lambda X: RVR(basis).fit(X, y)):
        with pytest.raises((TypeError, ValueError), match=r"string to float: '3,5'|not 'dict'"):
            asked(X)


def test_a_table_may_have_columns_of_texts_and_of_numbers(y):
    X = pd.DataFrame({"word": WORDS, "size": np.arange(float(len(WORDS)))})
    model = RVR(lambda A, B: common(A[:, 0], B[:, 0])).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), RVR(common).fit(X[["word"]], y).predict(X[["word"]])
    )


@pytest.mark.parametrize(
    "kernel", ["rbf", [common, "rbf"], Columns()], ids=["rbf", "beside", "columns"]
)
def test_texts_need_functions_that_take_them(kernel, y):
    with pytest.raises(ValueError, match=r"X: could not convert string to float: '.*' in row 0"):
        RVR(kernel).fit(WORDS[:, None], y)


def test_texts_that_come_in_parts_are_refused(y):
    with pytest.raises(ValueError, match="X holds objects, expected numbers"):
        RVR(common).partial_fit(WORDS[:, None], y)


def test_a_missing_text_is_said_to_be_missing(y):
    X = WORDS[:, None].astype(object)
    X[3] = None
    with pytest.raises(ValueError, match=r"^X contains missing values .* in row 3,"):
        RVR(common).fit(X, y)


def test_models_of_texts_are_compared_and_bases_of_texts_are_transformers(y):
    X = WORDS[:, None]
    rows = compare({"pairs": RVR(common), "letters": RVR(overlap)}, X, y)
    assert len(rows) == 2
    np.testing.assert_array_equal(CallableKernel(common).fit_transform(X), common(X, X))
    lower, upper = RVR(common).fit(X, y).calibrate(X, y, cv=4).predict_interval(X)
    assert (lower < upper).all()


# Values


class Waves(Kernel):
    """A kernel with complex values."""

    def k(self, X, Z):
        return np.exp(1j * (X @ Z.T))


class Gaps(Kernel):
    """A kernel that has no value at one row."""

    def k(self, X, Z):
        K = RBF(gamma=0.5).fit(Z).evaluate(X)
        K[X[:, 0] == 2.0] = np.nan
        return K


COMPLEX = {
    "function": lambda X, Z: np.exp(1j * (X @ Z.T)),
    "objects": lambda X, Z: np.exp(1j * (X @ Z.T)).astype(object),
    "without imaginary parts": lambda X, Z: X @ Z.T + 0j,
    "class": Waves(),
    "sum": Waves() + RBF(),
    "beside others": ["rbf", Waves()],
    "columns": FunctionColumns(lambda X: np.exp(1j * X)),
}


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 2))
    X[7] = 2.0
    return X, X[:, 0] + 0.1 * rng.standard_normal(40)


@pytest.mark.parametrize("blocks", [False, True], ids=["in memory", "block by block"])
@pytest.mark.parametrize("kernel", COMPLEX.values(), ids=COMPLEX)
def test_complex_values_are_refused(kernel, blocks, data):
    X, y = data
    with pytest.raises(ValueError, match=r"[Cc]omplex .*expected real numbers"):
        RVR(kernel).fit(ArrayBlocks(X, 15) if blocks else X, y)


def without(value, *, columns=False):
    """A Gaussian kernel with another value at row 7, and at every row with it."""

    def kernel(X, Z):
        K = np.exp(-((X[:, :1] - Z[:, :1].T) ** 2))
        K[X[:, 0] == 2.0] = value
        if columns:
            K[:, Z[:, 0] == 2.0] = value
        return K

    return kernel


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_named_with_its_rows(value, word, columns, data):
    X, y = data
    match = f"^kernel function returned {word} in row 7 of the 40 of its first argument"
    with pytest.raises(ValueError, match=match):
        RVR(without(value, columns=columns)).fit(X, y)


def test_rows_of_which_a_point_has_no_value_are_those_of_the_second_argument():
    kernel = CallableKernel(lambda X, Z: np.where(Z[:, 0] == 2.0, np.nan, X[:, :1]))
    with pytest.raises(ValueError, match="returned NaN in row 1 of the 3 of its second argument"):
        kernel.fit_transform([[1.0], [2.0], [3.0]])


def test_a_class_and_columns_name_rows_too(data):
    X, y = data
    with pytest.raises(ValueError, match=r"^Gaps returned NaN in row 7 of the 40"):
        RVR(Gaps()).fit(X, y)
    columns = FunctionColumns(lambda X: np.where(X == 2.0, np.nan, X))
    with pytest.raises(ValueError, match=r"^function returned NaN in row 7 of the 40"):
        RVR(columns).fit(X, y)


def test_rows_without_weight_are_not_looked_at(data):
    X, y = data
    weights = (np.arange(40) != 7).astype(float)
    for kernel in (without(np.nan, columns=True), FunctionColumns(lambda X: 1 / (X - 2.0))):
        RVR(kernel).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("value", "kind"), [("text", TypeError), (None, ValueError)], ids=["text", "nothing"]
)
def test_values_that_are_no_numbers(value, kind, data):
    X, y = data
    with pytest.raises(kind, match=r"^kernel function"):
        RVR(lambda X, Z: np.array([[value] * len(Z)] * len(X), dtype=object)).fit(X, y)
