"""The benchmark on public splits measures what it says, of whatever methods are installed."""

from itertools import islice

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.dummy import DummyRegressor

from benchmarks.scales.problems import published_rows
from benchmarks.staged import Split, Table, load_staged
from benchmarks.table import format_mean
from benchmarks.uci import __main__ as uci
from benchmarks.uci.measure import HEADER, measured
from benchmarks.uci.methods import METHODS, ConstantNoise, Method, normal, residual_std
from benchmarks.uci.problems import LARGER, PUBLIC, few_rows
from benchmarks.uci.published import SOURCES
from tests.support import needs


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 5 + np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


def split(n_train=60, n_test=20):
    X, y = drawn(n_train + n_test)
    return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


class Told:
    """A model that is told what to say."""

    def fit(self, X, y):
        self.n_rows = len(y)
        return self


def told(mean, std=None, ends=None):
    def answer(model, X):
        said = normal(np.asarray(mean, float), np.ones(len(mean)) if std is None else std)
        return said._replace(std=std) if ends is None else said._replace(std=std, ends=ends)

    return Method("told", lambda _: Told(), lambda model: model.n_rows, answer)


def test_errors_densities_and_shares_are_those_of_the_answer():
    of = split(n_test=4)._replace(y_test=np.array([0.0, 1.0, -3.0, 0.5]))
    std = np.array([1.0, 2.0, 1.0, 1.0])
    found = measured(told(np.zeros(4), std), of)
    assert found.error == pytest.approx(np.sqrt(10.25 / 4))
    assert found.loss == pytest.approx(-norm.logpdf(of.y_test, 0, std).mean())
    assert found.held == (75.0, 75.0)  # -3 alone is beyond 1.96, and all others within 0.67
    assert found.kept == 60
    assert min(found.fit_seconds, found.predict_seconds) >= 0


def test_intervals_without_a_density_have_no_loss():
    of = split(n_test=2)._replace(y_test=np.array([0.0, 1.0]))
    ends = np.array([[[-1.0, 2.0], [1.0, 3.0]], [[-1.0, 0.0], [1.0, 3.0]]])
    found = measured(told(np.zeros(2), ends=ends), of)
    assert np.isnan(found.loss)
    assert found.held == (50.0, 100.0)


def test_a_method_for_few_rows_is_fitted_to_no_more():
    assert measured(told(np.zeros(20))._replace(most=10), split()).kept == 10
    process = METHODS["process"]
    assert measured(process._replace(most=30), split()).kept == 30


@pytest.mark.parametrize("name", ["rvr", "process"])
def test_methods_beat_the_mean_of_the_targets(name):
    of = split(n_train=200)
    mean = measured(told(np.full(20, of.y_train.mean()), np.full(20, of.y_train.std())), of)
    found = measured(METHODS[name], of)
    assert found.error < 0.5 * mean.error
    assert found.loss < mean.loss


def test_noise_of_a_regressor_is_that_of_its_residuals_in_folds():
    of = split()
    zero = DummyRegressor(strategy="constant", constant=0.0)
    assert residual_std(zero, of) == pytest.approx(np.sqrt(np.mean(of.y_train**2)))
    mean, std = ConstantNoise(zero, 2.0).fit(*of[:2]).predict(of.X_test, return_std=True)
    np.testing.assert_array_equal(mean, np.zeros(20))
    np.testing.assert_array_equal(std, np.full(20, 2.0))


def test_the_rule_of_the_published_splits_gives_their_test_rows():
    table = needs.staged(load_staged, "yacht_hydrodynamics")
    rows = list(islice(published_rows(len(table.y)), 20))
    assert {len(test) for _, test in rows} == {31}
    for (train, test), part in zip(rows, PUBLIC["yacht"](), strict=True):
        np.testing.assert_array_equal(table.y[np.sort(train)], part.y_train)
        np.testing.assert_array_equal(table.y[np.sort(test)], part.y_test)


@pytest.mark.parametrize(("n_rows", "n_train"), [(30, 30), (800, 40)])
def test_few_rows_train_and_all_others_test(n_rows, n_train):
    y = np.arange(50.0)
    for part in islice(few_rows(Table(y[:, None], y, ()), n_rows), 3):
        assert len(part.y_train) == n_train
        np.testing.assert_array_equal(np.sort(np.append(part.y_train, part.y_test)), y)


def test_every_source_has_all_public_sets():
    assert all(set(source.figures) == set(PUBLIC) for source in SOURCES)


def table(capsys):
    """Rows of the table that was printed, without its header."""
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_command_prints_a_row_a_method_and_says_what_is_not_installed(monkeypatch, capsys):
    monkeypatch.setitem(PUBLIC, "yacht", lambda: iter([split(), split()]))
    monkeypatch.setitem(METHODS, "ngboost", told(np.zeros(20))._replace(package="no_such_package"))
    uci.main(["--only", "yacht", "--splits", "2", "--methods", "ngboost", "rvr"])
    rows = table(capsys)
    assert {len(row) for row in rows} == {len(HEADER) + 1}
    assert rows[0][:4] == ["yacht, 60 × 2", "told", "", "needs no_such_package"]
    assert rows[1][1:3] == ["`RVR()`", "2"]
    assert all(rows[1][3:])
    assert [row[1].strip("*") for row in rows[2:]] == [source.label for source in SOURCES]


def test_draws_of_few_rows_have_nothing_published_beside_them(monkeypatch, capsys):
    monkeypatch.setitem(LARGER, "bike", lambda: Table(*drawn(60), ()))
    uci.main(["--rows", "40", "--only", "bike", "--splits", "1", "--methods", "rvr"])
    ((first, *_),) = table(capsys)
    assert first == "bike, 40 × 2"


def test_a_set_that_has_no_public_splits_is_refused(capsys):
    with pytest.raises(SystemExit):
        uci.main(["--only", "bike"])
    assert "got bike, expected of yacht" in capsys.readouterr().err


def test_shares_that_are_equal_but_for_rounding_have_no_error():
    assert format_mean([30 / 31, 30 / 31 + 1e-16, 30 / 31]) == "0.97 ± 0.00"
