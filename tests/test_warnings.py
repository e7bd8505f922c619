"""Warnings of a fit: each has a code, and is raised once at the line of whoever called."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR, SparseBayesianRegressor
from relvec._design import ArrayBlocks
from relvec._fitting import centers
from relvec._runner.warn import warn_user
from relvec.datasets import make_sinc
from relvec.exceptions import (
    Advice,
    EmptyModelWarning,
    NoiseFloorWarning,
    RelvecWarning,
    sentence,
)

X, Y = make_sinc(60, noise_scale=0.1, random_state=0)
#: Targets of many sizes: narrow functions, each of a precision of its own, are worth more than a
#: nat each beside noise that all rows share.
UNEQUAL = Y * np.exp(3 * np.random.RandomState(1).standard_normal(60))


class Silent:
    """A callback that does nothing."""

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context):
        return False


def rvr():
    return RVR(gamma=0.3, max_iter=1)


def watched(model):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
    assert callback
    return model.set_callbacks(Silent())


CALLS = {
    "fit": lambda: rvr().fit(X, Y),
    "linear": lambda: SparseBayesianRegressor(max_iter=1, solver="em").fit(X, Y),
    "partial_fit": lambda: rvr().partial_fit(X, Y),
    "fit_chunks": lambda: rvr().fit_chunks([(X, Y), (X, Y)]),
    "rows out of memory": lambda: rvr().fit(ArrayBlocks(X, 20), Y),
    "callbacks": lambda: watched(rvr()).fit(X, Y),
    "callbacks, partial_fit": lambda: watched(rvr()).partial_fit(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), rvr()).fit(X, Y),
    "search": lambda: GridSearchCV(rvr(), {"gamma": [0.3]}, cv=2).fit(X, Y),
}


@pytest.fixture(params=CALLS)
def caught(request):
    """What is warned of where every row would carry a function and none of them may converge."""
    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr(centers, "MAX_ENTRIES", 30)
        patch.setattr(centers, "LEAST_CENTERS", 5)
        CALLS[request.param]()
    return caught


def test_warnings_are_at_the_line_of_the_caller(caught):
    assert {each.message.code for each in caught} >= {"not_converged"}
    assert {each.filename for each in caught} == {__file__}
    assert len({each.lineno for each in caught}) == 1


@pytest.fixture
def shown(recwarn):
    """What is shown of warnings with filters that show each, as the command `python` does not."""
    warnings.simplefilter("always")
    return recwarn


def quietly_fitted(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, UNEQUAL)


SEARCHES = {
    "grid": lambda model, **jobs: GridSearchCV(model, {"gamma": [1e3, 1e4]}, cv=3, **jobs),
    "nested": lambda model, **jobs: cross_val_score(
        GridSearchCV(model, {"gamma": [1e3, 1e4]}, cv=2), X, UNEQUAL, cv=2, **jobs
    ),
    "cross_validate": lambda model, **jobs: cross_validate(model, X, UNEQUAL, cv=4, **jobs),
    "learning_curve": lambda model, **jobs: learning_curve(
        model, X, UNEQUAL, train_sizes=[0.5, 0.7, 1.0], cv=3, **jobs
    ),
    "pipeline": lambda model, **jobs: cross_val_score(
        make_pipeline(StandardScaler(), model), X, UNEQUAL, cv=3, **jobs
    ),
    "features": lambda model, **jobs: SequentialFeatureSelector(
        model, n_features_to_select=1, cv=2, **jobs
    ).fit(np.hstack([X, X**2, X**3]), UNEQUAL),
    "calibrate": lambda model, **jobs: quietly_fitted(model).calibrate(X, UNEQUAL, cv=4),
}


def searched(name, model, **jobs):
    """Run a search, at one line for all."""
    search = SEARCHES[name](model, **jobs)
    return search.fit(X, UNEQUAL) if isinstance(search, GridSearchCV) else search


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_warns_once_of_what_all_its_fits_meet(name, shown):
    """Each uses up nearly all rows, of which they have different numbers."""
    searched(name, RVR(gamma=1e3))
    (warning,) = [each for each in shown if isinstance(each.message, RelvecWarning)]
    assert isinstance(warning.message, NoiseFloorWarning)
    assert "other fits made here may have met the same" in str(warning.message)
    assert warning.filename == __file__


def test_another_search_at_the_line_warns_again(shown):
    for _ in range(3):
        searched("grid", RVR())
    assert len(shown) == 3


def test_each_kind_is_warned_of_in_a_search(shown):
    grid = {"gamma": [1e3, 0.3], "max_iter": [1, 100]}
    GridSearchCV(RVR(), grid, cv=2).fit(X, Y)
    kinds = [each.message.code for each in shown if isinstance(each.message, RelvecWarning)]
    assert sorted(kinds) == ["noise_floor", "not_converged"]


def test_fits_beside_a_search_warn_each(shown):
    model = rvr()
    for _ in range(3):
        model.fit(X, Y)
    assert len(shown) == 3
    assert not any("other fits" in str(each.message) for each in shown)


def test_a_worker_of_a_search_warns_once(shown):
    """It begins with a private function of scikit-learn, and has a new estimator each time."""
    work = {"__name__": "sklearn.model_selection.work"}
    exec("def _fit_and_score(model, X, y): model.fit(X, y)", work)
    for _ in range(3):
        work["_fit_and_score"](rvr(), X, Y)
    assert len(shown) == 1


def test_every_fit_of_a_search_fails_where_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoiseFloorWarning)
        with pytest.raises(ValueError, match="All the 3 fits failed"):
            cross_val_score(RVR(gamma=1e3), X, UNEQUAL, cv=3)


def test_drawn_centres_are_told_of_there_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(centers, "MAX_ENTRIES", 30)
        patch.setattr(centers, "LEAST_CENTERS", 5)
        with pytest.warns(RelvecWarning, match="a random 5 do") as caught:
            RVR(gamma=0.3).fit(X, Y)
    assert caught[0].message.code == "centers_drawn"
    assert caught[0].filename == __file__


def test_a_warning_is_raised_once():
    one, other = EmptyModelWarning("a"), NoiseFloorWarning("a")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(one, EmptyModelWarning("a"), other, EmptyModelWarning("b"))
    assert [(type(each.message), str(each.message)) for each in caught] == [
        (EmptyModelWarning, "a"),
        (NoiseFloorWarning, "a"),
        (EmptyModelWarning, "b"),
    ]


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_copies_of_rows_are_named_as_the_cause_of_noise_at_its_floor(scale):
    """Ten copies of each row leave no noise; weights with a mean of 1 are not to blame."""
    weight = scale * np.tile([5.0, 15.0], 30)
    with pytest.warns(NoiseFloorWarning) as caught:
        model = RVR(gamma=30.0).fit(X, Y, sample_weight=weight)
    named = scale == 1.0
    finding = model.diagnose()[0]
    for text in (str(caught[0].message), model.status_, finding.sentence):
        assert ("sample_weight has a mean of 10" in text) == named
    assert ("sample_weight" in [each.parameter for each in finding.advice]) == named


@pytest.mark.parametrize(
    ("model", "can"),
    [(RVR(gamma=1.0), True), (RVR(gamma="evidence"), False), (SparseBayesianRegressor(), False)],
)
def test_advice_is_to_change_a_width_that_was_set(model, can):
    with pytest.warns(EmptyModelWarning) as caught:
        model.fit(X, np.ones(60))
    assert ("gamma" in str(caught[0].message)) == can


def test_advice_is_worded_for_who_reads_it():
    advice = (Advice("use {}", "gamma", "ard"), Advice("set {}", "tol"), Advice("check y"))
    assert sentence("odd", advice) == "odd; use gamma='ard', or set tol, or check y"
    assert sentence("odd", advice, {"gamma": "--gamma"}) == "odd; use --gamma ard, or check y"
    assert sentence("odd", advice[:2], {}) == "odd"
    warning = NoiseFloorWarning("odd", *advice)
    for same in (pickle.loads(pickle.dumps(warning)), warning.of("")):
        assert (str(same), same.advice) == (str(warning), advice)


def test_a_filter_that_makes_errors_of_warnings_is_heeded():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(EmptyModelWarning, match=r"^a$"):
            warn_user(EmptyModelWarning("a"))


def test_codes_tell_warnings_apart():
    kinds = RelvecWarning.__subclasses__()
    assert len({kind.code for kind in kinds} | {RelvecWarning.code}) == len(kinds) + 1
    assert np.all([kind.code.islower() for kind in kinds])
