"""The commands, run on real files: what they print, write, refuse and return."""

import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from sklearn.model_selection import train_test_split

from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import error_of, report, write

NOISE_SD = 0.5
#: Options of a fit that is quick.
LINEAR = ["--target", "price", "--model", "linear"]


@pytest.fixture
def houses():
    """120 houses whose price is a smooth function of size plus a step for the district."""
    rng = np.random.default_rng(0)
    size = rng.uniform(20, 200, size=120)
    district = rng.choice(["hill", "harbour", "old town"], size=120)
    step = pd.Series(district).map({"hill": 0.0, "harbour": 2.0, "old town": 4.0}).to_numpy()
    return pd.DataFrame(
        {
            "size": size,
            "rooms": rng.integers(1, 7, size=120),
            "garden": rng.random(120) < 0.5,
            "district": district,
            "price": 3 * np.sin(size / 40) + step + rng.normal(scale=NOISE_SD, size=120),
        }
    )


@pytest.fixture(params=[".csv", ".parquet"])
def houses_file(request, houses, tmp_path):
    return write(houses, tmp_path / f"houses{request.param}")


@pytest.fixture
def houses_csv(houses, tmp_path):
    return write(houses, tmp_path / "houses.csv")


@pytest.fixture
def model_file(houses_csv, tmp_path, capsys):
    path = tmp_path / "houses.skops"
    words = ["--target", "price", "--model", "rvm", "--out", str(path)]
    assert main(["fit", houses_csv, *words]) == 0
    capsys.readouterr()
    return str(path)


def test_fit_says_what_is_wrong(houses, tmp_path, capsys):
    rng = np.random.default_rng(1)
    houses["price"] = houses["size"] / 50 + rng.normal(scale=0.1, size=120)
    words = ["--target", "price", "--model", "rvm"]
    assert main(["fit", write(houses, tmp_path / "good.csv"), *words]) == 0
    assert report(capsys.readouterr().out)["diagnosis"] == "nothing to report"
    houses.loc[[7, 25, 60, 90], "price"] += [2, -2, 2, -2]
    path = write(houses, tmp_path / "typos.csv")
    assert main(["fit", path, *words, "--test-size", "0"]) == 0
    diagnosis = report(capsys.readouterr().out)["diagnosis"]
    assert diagnosis.startswith("outliers: 4 of 120 residuals")
    assert "rows 7, 25, 60, 90" in diagnosis


def test_fit_reports_what_the_saved_model_does(houses, houses_file, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    split = ["--model", "rvm", "--test-size", "0.25", "--random-state", "3"]
    code = main(["fit", houses_file, "--target", "price", *split, "--out", str(saved)])
    out, err = capsys.readouterr()
    lines = report(out)
    model = load(saved)
    train, test = train_test_split(houses, test_size=0.25, random_state=3)
    mean, std = model.predict(test.drop(columns="price"), return_std=True)
    rmse = np.sqrt(np.mean((test["price"] - mean) ** 2))
    baseline = np.sqrt(np.mean((test["price"] - train["price"].mean()) ** 2))
    covered = np.mean(np.abs(test["price"] - mean) <= 1.959964 * std)

    assert code == 0
    assert err == ""
    assert lines["rows"] == "90 to fit, 30 held out"
    assert lines["features"] == "4 columns, 6 inputs once encoded"
    assert lines["relevance vectors"] == f"{len(model[-1].relevance_)} of 90 rows"
    assert lines["noise sd"] == f"{np.sqrt(model[-1].noise_variance_):.4g} price"
    assert lines["log evidence"] == f"{model[-1].log_evidence_:.2f}"
    assert lines["test RMSE"] == f"{rmse:.4g} price (training mean as prediction: {baseline:.4g})"
    assert lines["95 % interval"] == f"holds {100 * covered:.1f} % of the test rows"
    assert float(lines["seconds"]) >= 0
    assert out.splitlines()[-1] == f"model written to {saved}"
    assert rmse < baseline / 2


def test_fit_passes_kernel_and_gamma_on(houses_csv, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    words = ["--kernel", "laplacian", "--gamma", "0.3", "--exclude", "rooms", "--exclude", "garden"]
    assert main(["fit", houses_csv, "--target", "price", "--out", str(saved), *words]) == 0
    model = load(saved)
    assert model[-1].kernel == "laplacian"
    assert model[-1].gamma == 0.3
    assert list(model.feature_names_in_) == ["size", "district"]


def test_fit_without_held_out_rows(houses_csv, capsys):
    assert main(["fit", houses_csv, *LINEAR, "--test-size", "0"]) == 0
    lines = report(capsys.readouterr().out)
    assert lines["rows"] == "120 to fit, 0 held out"
    assert "test RMSE" not in lines


def test_rows_with_missing_values_are_refused_unless_dropped(houses, tmp_path, capsys):
    houses.loc[[3, 5], "size"] = np.nan
    houses.loc[[5, 8], "price"] = np.nan
    path = write(houses, tmp_path / "holes.csv")
    refused = error_of(capsys, ["fit", path, "--target", "price"])
    assert "3 of 120 rows have missing values (in size: 2, price: 2)" in refused
    assert "--drop-missing" in refused

    assert main(["fit", path, *LINEAR, "--drop-missing"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 of 120 rows have missing values (in size: 2, price: 2): left out\n")
    assert report(out)["rows"] == "93 to fit, 24 held out"


def test_missing_values_in_excluded_columns_do_not_matter(houses, tmp_path, capsys):
    houses["note"] = np.nan
    path = write(houses, tmp_path / "notes.csv")
    assert main(["fit", path, *LINEAR, "--exclude", "note"]) == 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_predict_writes_the_intervals_of_the_model(houses, model_file, tmp_path, capsys, suffix):
    new = houses.iloc[::-1].drop(columns="price")[["district", "garden", "rooms", "size"]]
    data, out = write(new, tmp_path / f"new{suffix}"), tmp_path / f"predicted{suffix}"
    assert main(["predict", model_file, data, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"120 predictions written to {out}\n"

    written = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    mean, std = load(model_file).predict(new, return_std=True)
    assert list(written) == ["mean", "std", "lower_95", "upper_95"]
    np.testing.assert_allclose(written["mean"], mean)
    np.testing.assert_allclose(written["std"], std)
    np.testing.assert_allclose(written["lower_95"], mean - 1.959963985 * std)
    np.testing.assert_allclose(written["upper_95"], mean + 1.959963985 * std)


def test_a_category_not_seen_before_warns_in_one_line(houses, houses_csv, tmp_path, capsys):
    model_file = str(tmp_path / "rvm.skops")
    assert (
        main(["fit", houses_csv, "--target", "price", "--model", "rvm", "--out", model_file]) == 0
    )
    capsys.readouterr()
    houses.loc[0, "district"] = "island"
    data = write(houses, tmp_path / "new.csv")
    assert main(["predict", model_file, data, "--out", str(tmp_path / "out.csv")]) == 0
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("relvec: warning: ")
    assert "unknown categories" in err


def test_warnings_of_the_fit_are_one_line_each(tmp_path, capsys):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"x": rng.normal(size=60), "price": 5.0})
    path = write(noise, tmp_path / "constant.csv")
    assert main(["fit", path, "--target", "price", "--model", "rvm"]) == 0
    err = capsys.readouterr().err
    assert err
    assert all(line.startswith("relvec: warning: ") for line in err.splitlines())


def test_predict_refuses_missing_values_and_columns(houses, model_file, tmp_path, capsys):
    out = str(tmp_path / "out.csv")
    houses.loc[4, "rooms"] = np.nan
    holes = write(houses, tmp_path / "holes.csv")
    error = error_of(capsys, ["predict", model_file, holes, "--out", out])
    assert "1 of 120 rows have missing values (in rooms: 1)" in error

    narrow = write(houses[["size", "district"]], tmp_path / "narrow.csv")
    error = error_of(capsys, ["predict", model_file, narrow, "--out", out])
    assert "no column rooms, garden; it has size, district" in error
    assert not Path(out).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "cost"], "has no column cost; it has size, rooms, garden, district, price"),
        (["--target", "price", "--exclude", "attic"], "has no column attic"),
        (["--target", "price", "--exclude", "price"], "has no column price; it has size, rooms"),
        (["--target", "price", "--gamma", "wide"], "gamma='wide' is not known"),
        (["--target", "price", "--test-size", "1"], "must be at least 0 and less than 1"),
        (["--target", "price", "--kernel", "magic"], "invalid choice: 'magic'"),
        (["--target", "price", "--out", "no/such/folder/model"], "no folder no/such/folder"),
        (["--target", "district", "--task", "regression"], "the target 'district' holds"),
        (["--target", "price", "--task", "ranking"], "invalid choice: 'ranking'"),
        (["--target", "price", "--plot", "no/such/folder/a.png"], "no folder no/such/folder"),
        (["--target", "price", "--plot", "picture.tables"], "picture.tables must end in one of"),
        ([], "required: --target"),
    ],
)
def test_fit_says_what_is_wrong_in_one_line(houses_csv, capsys, arguments, message):
    assert message in error_of(capsys, ["fit", houses_csv, *arguments])


def test_tables_that_cannot_be_read(tmp_path, capsys):
    assert "No such file" in error_of(capsys, ["fit", str(tmp_path / "a.csv"), "--target", "y"])
    book = tmp_path / "book.xlsx"
    book.write_bytes(b"PK\x03\x04" + bytes(40))
    error = error_of(capsys, ["fit", str(book), "--target", "y"])
    assert "a ZIP archive or an Excel workbook, expected text or Parquet: save the sheet" in error
    broken = tmp_path / "broken.parquet"
    broken.write_text("not a table")
    assert "relvec: error: " in error_of(capsys, ["fit", str(broken), "--target", "y"])


def test_columns_that_are_no_features(houses, tmp_path, capsys):
    houses["owner"] = [f"person {i}" for i in range(len(houses))]
    path = write(houses, tmp_path / "owners.csv")
    assert main(["fit", path, *LINEAR]) == 0
    left_out = report(capsys.readouterr().out)["left out"]
    assert left_out.startswith("owner: 120 different texts in 120 rows; --categories=owner")

    houses["owner"] = pd.Timedelta(1, "h") * np.arange(len(houses))
    path = write(houses, tmp_path / "spans.parquet")
    error = error_of(capsys, ["fit", path, "--target", "price"])
    assert "column 'owner' holds timedelta64" in error
    assert "--exclude=owner leaves it out" in error


def test_cells_that_hold_lists_are_refused_by_name(houses, tmp_path, capsys):
    houses["visits"] = [[1, 2]] * len(houses)
    path = write(houses, tmp_path / "lists.parquet")
    for words in (["--target", "price"], ["--target", "visits"]):
        error = error_of(capsys, ["fit", path, *words])
        assert "column 'visits' holds lists or other containers" in error
    assert main(["fit", path, *LINEAR, "--exclude", "visits"]) == 0


def test_tables_with_nothing_to_learn_from(houses, tmp_path, capsys):
    lonely = write(houses[["price"]], tmp_path / "lonely.csv")
    assert "relvec: error: " in error_of(capsys, ["fit", lonely, "--target", "price"])
    houses.loc[::2, "size"] = np.nan
    houses.loc[1::2, "rooms"] = np.nan
    empty = write(houses, tmp_path / "empty.csv")
    assert main(["fit", empty, *LINEAR, "--drop-missing"]) == 2
    out, err = capsys.readouterr()
    assert out == "120 of 120 rows have missing values (in size: 60, rooms: 60): left out\n"
    assert err == "relvec: error: no row is left to fit: --impute fills in missing inputs\n"
    assert main(["fit", empty, *LINEAR, "--impute"]) == 0


def test_files_that_are_no_models(houses_csv, tmp_path, capsys):
    words = [houses_csv, "--trust-pickle", "--out", str(tmp_path / "out.csv")]
    assert "is not a saved model" in error_of(capsys, ["predict", houses_csv, *words])
    other = tmp_path / "other.joblib"
    joblib.dump({"a": 1}, other)
    assert "holds a dict" in error_of(capsys, ["predict", str(other), *words])
    for absent in ("absent.skops", "absent"):
        error = error_of(capsys, ["predict", str(tmp_path / absent), *words])
        assert "No such file" in error


@pytest.mark.parametrize("library", ["pandas", "matplotlib"])
def test_a_missing_library_is_named_with_its_extra(library, tmp_path, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    error = error_of(capsys, ["demo", "--out", str(tmp_path / "demo.png")])
    assert error == (
        f"relvec: error: this command needs {library}: install relvec with its extra relvec[cli]\n"
    )


def test_demo_draws_two_panels(tmp_path, capsys):
    picture = tmp_path / "demo.png"
    assert main(["demo", "--out", str(picture)]) == 0
    out = capsys.readouterr().out
    assert report(out)["rows"] == "331 to fit, 111 held out"
    assert "progression" in report(out)["noise sd"]
    pixels = imread(picture)
    assert pixels.shape == (450, 1100, 4)
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 100


def test_the_installed_command_runs(houses_csv):
    command = Path(sys.executable).with_name("relvec")
    words = [str(command), "fit", houses_csv, "--target", "price", "--model", "rvm"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert report(done.stdout)["rows"] == "96 to fit, 24 held out"
    words += ["--kernel", "magic"]
    failed = subprocess.run(words, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.startswith("relvec fit: error: ")
    assert failed.stderr.count("\n") == 1
