"""The commands on classes: how the task is chosen, judged, predicted and drawn."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from relvec._commands.main import main
from relvec._commands.tasks import task_of
from relvec.storage import load
from tests.support.commands import error_of, report, write


@pytest.fixture
def flats():
    """160 flats, of which the large and the central ones are sold."""
    rng = np.random.default_rng(0)
    size, centre = rng.uniform(20, 120, size=160), rng.random(160) < 0.4
    sold = rng.random(160) < 1 / (1 + np.exp(-(size - 70) / 8 - 3 * centre))
    district = rng.choice(["hill", "harbour"], size=160)
    verdict = np.where(sold, "sold", "kept")
    return pd.DataFrame({"size": size, "centre": centre, "district": district, "verdict": verdict})


@pytest.fixture
def flats_csv(flats, tmp_path):
    return write(flats, tmp_path / "flats.csv")


@pytest.fixture
def irises():
    data = load_iris(as_frame=True)
    return data.data.assign(species=data.target_names[data.target])


@pytest.fixture
def irises_csv(irises, tmp_path):
    return write(irises, tmp_path / "irises.csv")


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "c"], "classification"),
        ([f"text {i}" for i in range(40)], "classification"),
        ([True, False], "classification"),
        ([0, 1], "classification"),
        ([-1.0, 1.0], "classification"),
        (range(10), "classification"),
        (range(11), "regression"),
        ([0.5, 1.5], "regression"),
        ([0.0, 1.0, np.inf], "regression"),
        ([7, 7], "regression"),
    ],
)
def test_values_of_the_target_choose_the_task(values, task):
    assert task_of(pd.Series([*values] * 3)) == task


def test_the_kind_of_column_does_not_matter():
    whole = pd.Series([1, 2, 3] * 4)
    for kind in ("Int64", "float32", "category", "string", "boolean"):
        assert task_of(whole.gt(1).astype(kind) if kind == "boolean" else whole.astype(kind)) == (
            "classification"
        )


def test_fit_reports_what_the_saved_model_does(flats, flats_csv, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    split = ["--test-size", "0.25", "--random-state", "3"]
    code = main(
        ["fit", flats_csv, "--target", "verdict", "--model", "rvm", *split, "--out", str(saved)]
    )
    out, err = capsys.readouterr()
    lines = report(out)
    assert (code, err) == (0, "")

    model = load(saved)
    train, test = train_test_split(flats, test_size=0.25, random_state=3, stratify=flats["verdict"])
    features, truth = test.drop(columns="verdict"), test["verdict"]
    probability = model.predict_proba(features)
    sold = (truth == "sold").to_numpy()
    share = np.full(40, (train["verdict"] == "sold").mean())
    most = train["verdict"].mode()[0]

    assert lines["task"] == "classification of verdict, 2 classes: kept, sold"
    assert lines["rows"] == "120 to fit, 40 held out"
    assert lines["features"] == "3 columns, 4 inputs once encoded"
    assert lines["relevance vectors"] == f"{len(model[-1].relevance_)} of 120 rows"
    assert lines["log evidence"] == f"{model[-1].log_evidence_:.2f}"
    assert lines["test accuracy"] == (
        f"{accuracy_score(truth, model.predict(features)):.4g} "
        f"(always the commonest class: {(truth == most).mean():.4g})"
    )
    assert lines["test log loss"] == (
        f"{log_loss(sold, probability[:, 1]):.4g} "
        f"(class shares as probabilities: {log_loss(sold, share):.4g})"
    )
    assert lines["test Brier score"] == (
        f"{brier_score_loss(sold, probability[:, 1]):.4g} "
        f"(class shares as probabilities: {brier_score_loss(sold, share):.4g})"
    )
    assert log_loss(sold, probability[:, 1]) < 0.8 * log_loss(sold, share)


def test_more_classes_are_reported_and_confused_in_a_table(irises, irises_csv, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    words = ["--target", "species", "--model", "linear", "--out", str(saved)]
    assert main(["fit", irises_csv, *words]) == 0
    out = capsys.readouterr().out
    model = load(saved)
    test = train_test_split(irises, test_size=0.2, random_state=0, stratify=irises["species"])[1]
    features, truth = test.drop(columns="species"), test["species"].to_numpy()
    predicted, probability = model.predict(features), model.predict_proba(features)

    lines = report(out)
    names = ["setosa", "versicolor", "virginica"]
    assert lines["task"] == f"classification of species, 3 classes: {', '.join(names)}"
    assert lines["predicted"].split() == names
    table = [line.split()[2:] for line in out.splitlines() if line.split()[0] == "true"]
    counts = [[((truth == a) & (predicted == b)).sum() for b in names] for a in names]
    assert table == [[str(count) for count in row] for row in counts]
    brier = sum(
        (probability[i, k] - (truth[i] == name)) ** 2 / 2
        for i in range(len(truth))
        for k, name in enumerate(names)
    ) / len(truth)
    # Each class is a third of the rows: ((2/3)² + 2 · (1/3)²) / 2.
    assert lines["test Brier score"] == (
        f"{brier:.4g} (class shares as probabilities: {1 / 3:.4g})"
    )


def test_classes_are_held_out_in_proportion(irises, tmp_path, capsys):
    path = write(irises.iloc[:110], tmp_path / "few.csv")
    assert main(["fit", path, "--target", "species", "--model", "linear"]) == 0
    table = [line.split()[2:] for line in capsys.readouterr().out.splitlines() if "true" in line]
    assert [sum(map(int, row)) for row in table] == [10, 10, 2]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict_writes_classes_and_probabilities(irises, irises_csv, tmp_path, capsys, suffix):
    saved = str(tmp_path / "model.skops")
    assert main(["fit", irises_csv, "--target", "species", "--model", "rvm", "--out", saved]) == 0
    new = irises.drop(columns="species").iloc[::-3, ::-1]
    data, out = write(new, tmp_path / f"new{suffix}"), tmp_path / f"predicted{suffix}"
    capsys.readouterr()
    assert main(["predict", saved, data, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"50 predictions written to {out}\n"

    written = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    model = load(saved)
    names = ["setosa", "versicolor", "virginica"]
    assert list(written) == ["predicted", *[f"probability_{name}" for name in names]]
    np.testing.assert_array_equal(written["predicted"], model.predict(new))
    np.testing.assert_allclose(written.iloc[:, 1:], model.predict_proba(new))


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bool", ["False", "True"]),
        ("int64", ["0", "1"]),
        ("float64", ["0", "1"]),
        ("boolean", ["False", "True"]),
        ("Int64", ["0", "1"]),
        ("category", ["kept", "sold"]),
    ],
)
def test_classes_are_named_as_they_are_written(flats, kind, names, tmp_path, capsys):
    sold = flats["verdict"] == "sold"
    flats["verdict"] = flats["verdict"].astype(kind) if kind == "category" else sold.astype(kind)
    path, saved = write(flats, tmp_path / "flats.parquet"), str(tmp_path / "model.skops")
    out = tmp_path / "out.csv"
    assert main(["fit", path, "--target", "verdict", "--model", "rvm", "--out", saved]) == 0
    assert report(capsys.readouterr().out)["task"].endswith(f"2 classes: {', '.join(names)}")
    assert main(["predict", saved, path, "--out", str(out)]) == 0
    written = pd.read_csv(out, dtype={"predicted": str})
    assert list(written)[1:] == [f"probability_{name}" for name in names]
    assert set(written["predicted"]) == set(names)
    assert ((written["predicted"] == names[1]) == sold).mean() > 0.7


def test_the_task_can_be_said(flats, tmp_path, capsys):
    number = np.arange(72)
    flats = flats.head(72).assign(floor=number % 12, rooms=number % 4)
    path = write(flats, tmp_path / "flats.csv")
    for target, guess, other in (
        ("floor", "regression", "classification"),
        ("rooms", "classification", "regression"),
    ):
        for words, task in ((["--task", "auto"], guess), (["--task", other], other)):
            assert main(["fit", path, "--target", target, "--model", "linear", *words]) == 0
            assert report(capsys.readouterr().out)["task"].startswith(f"{task} of {target}")


def test_targets_that_are_no_classes(flats, tmp_path, capsys):
    path = write(flats.assign(verdict="kept"), tmp_path / "one.csv")
    assert "1 class" in error_of(capsys, ["fit", path, "--target", "verdict"])

    words = ["--target", "size", "--task", "classification"]
    path = write(flats, tmp_path / "flats.csv")
    assert "the target 'size' holds fractions, not classes" in error_of(
        capsys, ["fit", path, *words]
    )

    flats["day"] = pd.Timestamp("2024-01-01")
    path = write(flats, tmp_path / "dates.parquet")
    error = error_of(capsys, ["fit", path, "--target", "day"])
    assert "the target 'day' holds datetime64" in error


def test_a_class_of_one_row_cannot_be_held_out(irises, tmp_path, capsys):
    path = write(irises.iloc[:101], tmp_path / "lonely.csv")
    words = ["--target", "species", "--model", "linear"]
    error = error_of(capsys, ["fit", path, *words])
    assert "the target 'species' has only one row of virginica" in error
    assert main(["fit", path, *words, "--test-size", "0"]) == 0
    lines = report(capsys.readouterr().out)
    assert "3 classes" in lines["task"]
    assert "test accuracy" not in lines


@pytest.mark.parametrize(
    ("target", "share", "written"),
    [
        ("verdict", "0.2", ["rows held out", "probability of sold"]),
        ("verdict", "0", ["rows fitted", "probability of sold"]),
        ("size", "0.2", ["rows held out", "predicted size"]),
    ],
)
def test_plot_draws_the_rows_that_judge_the_fit(flats_csv, target, share, written, tmp_path):
    picture = tmp_path / "picture.svg"
    words = ["--target", target, "--model", "rvm", "--test-size", share, "--plot", str(picture)]
    with mpl.rc_context({"svg.fonttype": "none"}):
        assert main(["fit", flats_csv, *words]) == 0
    text = picture.read_text(encoding="utf-8")
    for words in written:
        assert words in text


def test_demo_draws_two_panels(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--task", "classification", "--out", str(picture)]) == 0
    lines = report(capsys.readouterr().out)
    assert lines["rows"] == "284 to fit, 285 held out"
    assert lines["task"] == "classification of diagnosis, 2 classes: benign, malignant"
    assert float(lines["test accuracy"].split()[0]) > 0.85
    pixels = imread(picture)
    assert pixels.shape == (450, 1100, 4)
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 100
