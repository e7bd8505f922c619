"""scikit-learn's callbacks are told of the passes, and may end a fit."""

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVC, RVR, SparseBayesianRegressor
from relvec.exceptions import InterruptedWarning
from tests.long_fits.fits import FITS, NAMES, assert_same_fit, curve, iris, pair, two_inputs
from tests.support import needs

callback = pytest.importorskip(
    "sklearn.callback", reason="scikit-learn has no callbacks before 1.9"
)


class Told:
    """What a callback is told: tasks that begin and end, and how good the model is by then."""

    def __init__(self, stop=lambda context: False):
        self.stop = stop
        self.begun, self.ended, self.models, self.data, self.setups = [], [], [], [], 0

    def setup(self, estimator, context):
        self.setups += 1

    def teardown(self, estimator, context):
        self.setups -= 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context)

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.ended.append(context)
        self.models.append(fitted_estimator)
        self.data.append((X, y, metadata))
        return self.stop(context)

    def named(self, name):
        return [context for context in self.ended if context.task_name == name]


class Propagated(Told):
    """A callback that an estimator hands on to those within it."""

    max_propagation_depth = None


@pytest.mark.parametrize("name", NAMES)
def test_callbacks_see_every_pass_and_change_nothing(name):
    model, data = FITS[name]
    told = Told()
    watched = clone(model).set_callbacks(told).fit(*data())
    assert_same_fit(watched, clone(model).fit(*data()))
    assert told.setups == 0
    assert set(told.begun) == set(told.ended)
    root, *rest = told.begun
    assert (root.parent, told.ended[-1]) == (None, root)
    assert {context.task_name for context in rest} <= {
        "pass",
        "machine",
        "fit at some scales",
        "ascent in the scales",
    }
    if not isinstance(getattr(model, "gamma", None), str):
        assert len(told.named("pass")) >= watched.n_iter_
    assert not [name for name in vars(watched) if "ctx" in name]


def test_passes_are_leaves_below_the_fit():
    told = Told()
    model = RVR(gamma=0.1, max_iter=50).set_callbacks(told).fit(*curve())
    root, *passes = told.begun
    assert root.max_subtasks == 50
    assert [context.task_id for context in passes] == list(range(model.n_iter_))
    assert {context.max_subtasks for context in passes} == {0}
    assert {context.parent for context in passes} == {root}


@pytest.mark.parametrize(
    ("model", "data", "machines"),
    [
        (RVC(gamma=0.3, multi_class="ovr"), iris, 3),
        (RVR(gamma=0.1, multi_output="independent"), pair, 2),
    ],
)
def test_several_machines_are_tasks_with_passes_of_their_own(model, data, machines):
    told = Told()
    fitted = clone(model).set_callbacks(told).fit(*data())
    assert told.begun[0].max_subtasks == machines
    assert len(told.named("machine")) == machines
    assert {context.parent.task_name for context in told.named("pass")} == {"machine"}
    assert len(told.named("pass")) == fitted.n_iter_


def test_passes_beyond_max_iter_are_no_tasks():
    """The fourth start begins with updates of all functions, and has a pass to make after them."""
    told, earlier = Told(), RVR(gamma=0.1, n_starts=3).fit(*curve()).n_iter_
    with pytest.warns(UserWarning, match="raise max_iter"):
        RVR(gamma=0.1, n_starts=4, max_iter=earlier + 1).set_callbacks(told).fit(*curve())
    assert len(told.named("pass")) <= earlier + 1


# What they may ask for


def test_the_estimator_of_a_pass_is_that_of_so_many_passes():
    X, y = curve()
    told = Told()
    fitted = RVR(gamma=0.1).set_callbacks(told).fit(X, y)
    for number, model in enumerate(told.models[:3], start=1):
        with pytest.warns(UserWarning, match="raise max_iter"):
            expected = RVR(gamma=0.1, max_iter=number).fit(X, y)
        mean, std = model.predict(X, return_std=True)
        np.testing.assert_allclose(mean, expected.predict(X), rtol=1e-8)
        np.testing.assert_allclose(std, expected.predict(X, return_std=True)[1], rtol=1e-8)
        assert model.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-10)
    np.testing.assert_array_equal(told.models[-1].predict(X), fitted.predict(X))


def test_they_are_given_the_data():
    X, y = curve()
    weight, told = np.linspace(1, 2, 60), Told()
    RVR(gamma=0.1).set_callbacks(told).fit(X, y, sample_weight=weight)
    for given, target, metadata in told.data:
        np.testing.assert_array_equal(given, X)
        np.testing.assert_array_equal(target, y)
        assert metadata.keys() == {"sample_weight"}
        np.testing.assert_array_equal(metadata["sample_weight"], weight)


def test_labels_are_those_of_the_user():
    X, y = iris()
    names, told = np.array(["setosa", "versicolor", "virginica"])[y], Told()
    RVC(gamma=0.3, multi_class="multinomial").set_callbacks(told).fit(X, names)
    np.testing.assert_array_equal(told.data[0][1], names)
    assert told.models[0].score(X, names) > 0.5


def test_a_monitor_of_scores_has_one_for_every_pass():
    monitor = callback.ScoringMonitor(scoring="r2")
    X, y = curve()
    model = RVR(gamma=0.1).set_callbacks(monitor).fit(X, y)
    scores = {row["task_id_path"]: row["r2"] for row in monitor.get_logs().data}
    assert len(scores) == model.n_iter_ + 1
    assert scores[0,] == scores[0, model.n_iter_ - 1] == pytest.approx(model.score(X, y))


# What they may do


@pytest.mark.parametrize("name", ["starts", "em", "student t", "two classes", "bound"])
def test_a_callback_that_says_stop_ends_the_fit(name):
    model, data = FITS[name]
    X, y = data()
    told = Told(lambda context: context.task_name == "pass" and len(told.named("pass")) == 3)
    stopped = clone(model).set_callbacks(told)
    with pytest.warns(InterruptedWarning, match="^ended by a callback: the model is the best so"):
        stopped.fit(X, y)
    assert (stopped.n_iter_, len(told.named("pass"))) == (3, 3)
    assert "interrupted" in stopped.diagnose().codes
    assert np.isfinite(stopped.predict(X)).all()
    assert told.setups == 0


def test_a_callback_that_fails_fails_the_fit():
    def fail(context):
        raise RuntimeError("out of order")

    told = Told(fail)
    with pytest.raises(RuntimeError, match="out of order"):
        RVR(gamma=0.1).set_callbacks(told).fit(*curve())
    assert told.setups == 0


def test_ctrl_c_in_a_callback_ends_the_fit():
    def interrupt(context):
        if len(told.ended) == 4:
            raise KeyboardInterrupt
        return False

    told = Told(interrupt)
    model = RVR(gamma=0.1).set_callbacks(told)
    with pytest.warns(InterruptedWarning, match="^interrupted"):
        model.fit(*curve())
    assert model.n_iter_ == 4


# Where they go


def test_a_search_hands_them_on():
    X, y = curve()
    told = Propagated()
    search = GridSearchCV(RVR(), {"gamma": [0.1, 0.2]}, cv=2).set_callbacks(told)
    search.fit(X, y)
    fits = {context.parent for context in told.named("pass")}
    assert len(fits) == 5  # two folds of two candidates, and the best on all rows
    assert {context.source_estimator_name for context in fits} == {"GridSearchCV"}


def test_a_pipeline_hands_them_on():
    X, y = two_inputs()
    told = Propagated()
    make_pipeline(StandardScaler(), RVR()).set_callbacks(told).fit(X, y)
    assert told.named("pass")


@pytest.mark.filterwarnings("ignore::relvec.exceptions.InterruptedWarning")
def test_the_page_shows_what_works(capsys):
    needs.library("rich")
    page = Path(__file__).parents[2] / "docs" / "guide" / "long-fits.md"
    names = {"__name__": "page"}
    for block in re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(block, page.name, "exec"), names)
    *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+ ended by a callback: .*", last)
    assert (
        names["model"].history_[-1].log_evidence - names["model"].history_[-2].log_evidence < 0.01
    )


@pytest.mark.parametrize(
    "model", [RVR(gamma=0.5), RVR(gamma="evidence"), SparseBayesianRegressor()]
)
def test_a_progress_bar_is_drawn(model, monkeypatch):
    rich = needs.library("rich")
    screen = StringIO()
    console = rich.console.Console(file=screen, width=100)
    monkeypatch.setattr(rich, "_console", console)
    clone(model).set_callbacks(callback.ProgressBar()).fit(*two_inputs())
    assert f"{type(model).__name__} - fit" in screen.getvalue()
    assert "100%" in screen.getvalue()
