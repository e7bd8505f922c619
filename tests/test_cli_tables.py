"""Tables as they come: each is read as it is meant, or told with a remedy that works."""

import gzip
import io
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relvec._commands.main import main
from relvec._commands.tables import Format, read_table
from relvec.storage import load
from tests.support.commands import error_of, report, write

FIT = ["--target", "price", "--model", "linear"]
ROWS = 60


@pytest.fixture
def houses():
    rng = np.random.default_rng(0)
    size, rooms = rng.uniform(20, 200, ROWS).round(1), rng.integers(1, 7, ROWS)
    town = rng.choice(["Köln", "Bonn", "Ulm"], ROWS)
    price = size / 20 + rooms + 2 * (town == "Ulm") + rng.normal(0, 0.3, ROWS)
    return pd.DataFrame({"size": size, "rooms": rooms, "town": town, "price": price.round(3)})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fitted(capsys, data, *words):
    """Report on a fit of a table, and the model."""
    assert main(["fit", data, *FIT, "--out", "model.skops", *words]) == 0
    return report(capsys.readouterr().out), load("model.skops")


def commas(table):
    return table.to_csv(index=False, sep=";", decimal=",")


#: Name of a file, what is in it, and what the report says of that.
WAYS = [
    ("plain.csv", lambda t: t.to_csv(index=False), None),
    ("named for nothing", lambda t: t.to_csv(index=False), None),
    ("commas.csv", commas, "separator ;, decimal mark ,"),
    ("quoted.csv", lambda t: t.to_csv(index=False, decimal=",", quoting=2), None),
    ("latin.csv", lambda t: t.to_csv(index=False).encode("latin-1"), "encoding cp1252"),
    ("windows.txt", lambda t: commas(t).encode("cp1252"), None),
    ("marked.csv", lambda t: t.to_csv(index=False).encode("utf-8-sig"), None),
    ("excel.txt", lambda t: t.to_csv(index=False, sep="\t").encode("utf-16"), None),
    ("tabs.tsv", lambda t: t.to_csv(index=False, sep="\t"), "separator tab"),
    ("bars.txt", lambda t: t.to_csv(index=False, sep="|"), "separator |"),
    ("blanks.dat", lambda t: t.to_string(index=False), "separator white space"),
    ("said.csv", lambda t: "sep=;\n" + commas(t), "separator ;, decimal mark ,"),
    ("spaced.csv", lambda t: t.to_csv(index=False).replace(",", ", "), None),
    ("lines.csv", lambda t: t.to_csv(index=False, lineterminator="\r\n"), None),
    ("packed.csv.gz", lambda t: gzip.compress(t.to_csv(index=False).encode()), None),
    ("packed.csv", lambda t: gzip.compress(commas(t).encode()), "separator ;, decimal mark ,"),
    ("stored.parquet", lambda t: t.to_parquet(index=False), None),
    ("stored", lambda t: t.to_parquet(index=False), None),
    ("indexed.parquet", lambda t: t.set_index("size").to_parquet(), None),
]


@pytest.mark.parametrize(("name", "content", "said"), WAYS, ids=[way[0] for way in WAYS])
def test_a_table_is_read_however_it_is_written(name, content, said, houses, here, capsys):
    content = content(houses)
    (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    lines, model = fitted(capsys, name)
    assert said is None or lines["read with"] == said
    assert {*model.feature_names_in_} == {"size", "rooms", "town"}
    assert main(["predict", "model.skops", name, "--out", "out.csv"]) == 0
    plain = houses[model.feature_names_in_]
    np.testing.assert_allclose(pd.read_csv("out.csv")["mean"], model.predict(plain))
    write(houses, here / "plain.csv")
    _, expected = fitted(capsys, "plain.csv")
    np.testing.assert_allclose(model.predict(plain), expected.predict(plain))


def test_what_follows_a_zero_is_no_mark_of_thousands(houses, here, capsys):
    """Commas before three digits may be either mark, but for a cell such as 0,125."""
    shares = houses.assign(size=houses["size"] / 1000)
    text = shares.to_csv(index=False, sep=";", decimal=",", float_format="%.3f")
    (here / "shares.csv").write_text(text, encoding="utf-8")
    lines, model = fitted(capsys, "shares.csv")
    assert lines["read with"] == "separator ;, decimal mark ,"
    assert "size" in model.feature_names_in_


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda t: t.to_csv(index=False, sep="^"), ["--sep", "^"]),
        (lambda t: t.to_csv(index=False, sep="\t"), ["--sep", "tab"]),
        (commas, ["--decimal", ",", "--sep", ";"]),
        (lambda t: t.replace({"town": {"Köln": "Мир"}}).to_csv(), ["--encoding", "cp1251"]),
        (
            lambda t: t.assign(size=(1e4 * t["size"]).map("{:,.0f}".format)).to_csv(index=False),
            ["--thousands", ","],
        ),
    ],
    ids=["sep", "tab", "decimal", "encoding", "thousands"],
)
def test_options_say_how_cells_are_written(content, words, houses, here, capsys):
    encoding = words[1] if words[0] == "--encoding" else "utf-8"
    (here / "data.txt").write_bytes(content(houses).encode(encoding))
    _, model = fitted(capsys, "data.txt", *words)
    assert {*model.feature_names_in_} == {"size", "rooms", "town"}
    scale = 1e4 if "--thousands" in words else 1.0
    assert model[0].transformers_[0][1].mean_[0] == pytest.approx(
        scale * houses["size"].mean(), 0.1
    )
    # They need no repetition.
    assert main(["predict", "model.skops", "data.txt", "--out", "out.csv"]) == 0
    assert main(["report", "model.skops", "data.txt", "--out", "page.html"]) == 0
    assert np.corrcoef(pd.read_csv("out.csv")["mean"], houses["price"])[0, 1] > 0.9


def put(name, row, cell):
    def change(table):
        table[name] = table[name].astype(object)
        table.loc[row, name] = cell
        return table

    return change


def percent(table):
    return table.assign(share=[f"{row % 17}.5%" for row in range(ROWS)])


def grouped(table):
    return table.assign(people=[f"{1000 + 37 * row:,}" for row in range(ROWS)])


def spaced(table):
    return table.assign(people=[f"{1000 + 37 * row:,}".replace(",", " ") for row in range(ROWS)])


def weighed(table):
    return table.assign(load=[f"{row % 17}.5 kg" for row in range(ROWS)])


def in_brackets(table):
    return table.assign(change=[f"({row % 17}.5)" for row in range(ROWS)])


def with_units(table):
    return table.assign(area=[f"{row}.5 m2" for row in range(ROWS)])


def coordinates(table):
    return table.assign(place=[f"{row}.125,{row % 7}.250" for row in range(ROWS)])


def texts_for_a_target(table):
    return table.assign(price=[f"no {row}" for row in range(ROWS)], kind=["a", "b"] * 30)


def ambiguous(table):
    return table.assign(day=[f"{1 + row % 12:02}/{1 + row % 11:02}/2024" for row in range(ROWS)])


def most_dates(table):
    days = pd.date_range("2024-01-01", periods=ROWS).astype(str).to_numpy(dtype=object)
    days[5] = "soon"
    return table.assign(day=days)


#: What is wrong with a table, and what the error says of it.
WRONG = [
    (percent, ["column 'share'", "'0.5%'", "row 0"]),
    (grouped, ["column 'people'", "'1,000'", "row 0"]),
    (put("rooms", 7, "five"), ["column 'rooms'", "'five'", "row 7"]),
    (put("size", 7, "<20"), ["column 'size'", "'<20'", "row 7"]),
    (put("price", 3, "much"), ["column 'price'", "'much'", "row 3"]),
    (spaced, ["column 'people'", "'1 000'", "row 0"]),
    (weighed, ["column 'load'", "'0.5 kg'", "row 0"]),
    (in_brackets, ["column 'change'", "'(0.5)'", "row 0"]),
    (with_units, ["column 'area'", "'0.5 m2'", "row 0"]),
    (coordinates, ["column 'place'", "'0.125,0.250'", "row 0: write plain numbers"]),
    (put("size", 4, 1e200), ["column 'size'", "'1e+200'", "row 4"]),
    (texts_for_a_target, ["the target 'price' holds 60 different texts"]),
    (put("size", 4, np.inf), ["column 'size'", "'inf'", "row 4"]),
    (put("size", 4, -np.inf), ["column 'size'", "'-inf'", "row 4"]),
    (put("price", 4, np.inf), ["column 'price'", "'inf'", "row 4"]),
    (ambiguous, ["column 'day'", "'01/01/2024'"]),
    (most_dates, ["column 'day'", "'soon'", "row 5"]),
    (put("size", 4, None), ["1 of 60 rows", "size: 1"]),
    (put("town", 4, None), ["1 of 60 rows", "town: 1"]),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
def test_every_remedy_of_an_error_works(change, said, houses, here, capsys):
    data = write(change(houses), here / "data.csv")
    error = error_of(capsys, ["fit", data, *FIT])
    assert all(words in error for words in said)
    remedies = re.findall(r"--[a-z-]+=(?:'[^']*'|[^\s,;:]+,?)", error)
    remedies += re.findall(r"--drop-missing|--impute|--task classification", error)
    assert remedies or "--target names another" in error
    for remedy in [*remedies, *["--target kind"] * ("60 different" in error)]:
        words = shlex.split(remedy.removesuffix(",")) if remedy[-2] != "=" else [remedy]
        words += ["--drop-missing"] * remedy.startswith("--na")
        words += ["--test-size", "0"] * (remedy == "--task classification")
        assert main(["fit", data, *FIT, *words]) == 0, remedy


def test_tables_without_rows_are_told(houses, here, capsys):
    (here / "empty.csv").touch()
    assert "it is empty; expected a line of names" in error_of(capsys, ["fit", "empty.csv", *FIT])
    write(houses.head(0), here / "header.csv")
    assert "has names of columns and no rows" in error_of(capsys, ["fit", "header.csv", *FIT])
    fitted(capsys, write(houses, here / "data.csv"))
    error = error_of(capsys, ["predict", "model.skops", "header.csv"])
    assert "has names of columns and no rows" in error


@pytest.mark.parametrize("second", ["size", "size "])
def test_columns_of_the_same_name_are_told(houses, here, capsys, second):
    names = ["size", second, "price"]
    houses.iloc[:, :3].set_axis(names, axis="columns").to_csv("twice.csv", index=False)
    error = error_of(capsys, ["fit", "twice.csv", *FIT])
    assert "several columns of the same name (size), expected a name of its own" in error


def test_texts_without_names_or_with_lines_before_them_are_told(houses, here, capsys):
    houses[["size", "price"]].to_csv("bare.csv", index=False, header=False)
    error = error_of(capsys, ["fit", "bare.csv", *FIT])
    assert "its first line holds numbers (" in error
    assert "write a line of names above it" in error
    (here / "about.csv").write_text("measured in 2024\n" + houses.to_csv(index=False))
    error = error_of(capsys, ["fit", "about.csv", *FIT])
    assert "delete lines before the names" in error
    (here / "about.csv").write_text("measured in 2024\n\n" + houses.to_csv(index=False, sep=";"))
    error = error_of(capsys, ["fit", "about.csv", *FIT])
    assert "delete lines before the names" in error


def test_few_rows_are_told(houses, here, capsys):
    data = write(houses.head(2), here / "few.csv")
    assert "has 2 rows to fit, expected 3 or more" in error_of(capsys, ["fit", data, *FIT])


def test_numbers_that_are_stored_as_texts_are_fitted_where_that_is_said(houses, here, capsys):
    data = write(houses.astype({"price": str}), here / "data.parquet")
    error = error_of(capsys, ["fit", data, *FIT])
    assert "--task regression takes them as numbers" in error
    lines, _ = fitted(capsys, data, "--task", "regression")
    assert lines["task"] == "regression of price"


def test_codes_are_categories(houses, here, capsys):
    houses = houses.assign(drive=["2WD", "4WD"] * 30, code=["1A", "2B", "3C"] * 20)
    lines, _ = fitted(capsys, write(houses, here / "data.csv"))
    assert lines["categories"] == "town, drive, code"


@pytest.mark.parametrize("name", ["houses.csv", "houses.parquet"])
def test_leading_zeros_make_names_unless_numbers_are_asked_for(name, houses, here, capsys):
    codes = ["01067", "50667", "89073", None]
    houses["zip"] = np.where(houses["town"] == "Ulm", codes[0], np.resize(codes, ROWS))
    write(houses, here / name)
    lines, model = fitted(capsys, name, "--impute")
    assert lines["categories"] == "town, zip"
    assert lines["leading zeros"].startswith("zip: categories")
    assert model.preparation_["categories"]["zip"] == codes[:3]
    lines, _ = fitted(capsys, name, "--impute", *shlex.split(lines["leading zeros"])[4:5])
    assert lines["numbers"] == "size, rooms, zip"
    assert "leading zeros" not in lines
    houses["zip"] = [f"{row:05d}" for row in range(ROWS)]
    write(houses, here / name)
    lines, _ = fitted(capsys, name)
    assert "--numbers=zip as numbers" in lines["left out"]
    assert main(["predict", "model.skops", name, "--keep", "zip"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("00001,")


def test_rows_that_are_longer_than_the_first_line_are_told(here, capsys):
    (here / "r.txt").write_text("size price\n1 20 3\n2 30 4\n3 50 5\n")
    error = error_of(capsys, ["fit", "r.txt", "--target", "price"])
    assert "rows have more cells than its first line has names" in error


def test_columns_are_told_by_kind_and_by_what_leaves_them_out(houses, here, capsys):
    days = pd.date_range("2020-01-01", periods=ROWS, freq="9D")
    houses = houses.assign(
        day=days.strftime("%d.%m.%Y"), id=[f"h{row}" for row in range(ROWS)], land="DE", note=np.nan
    )
    houses.to_csv("data.csv")
    lines, _ = fitted(capsys, "data.csv", "--season", "day", "--exclude", "note")
    assert lines["numbers"] == "size, rooms"
    assert lines["categories"] == "town"
    assert lines["dates"] == "day (in days, with the season)"
    out = here / "out.txt"
    assert main(["fit", "data.csv", *FIT]) == 0
    out = capsys.readouterr().out
    assert re.search(r"left out +Unnamed: 0: row numbers", out)
    assert re.search(r"\n +id: 60 different texts in 60 rows; --categories=id", out)
    assert re.search(r"\n +land: one value, DE", out)
    assert re.search(r"\n +note: no values", out)


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y%m%d",
        "%b-%d-%Y",
        "%d %B %Y",
    ],
)
def test_dates_are_days_and_the_season_where_asked(form, here, capsys):
    days = pd.date_range("2020-01-01", periods=80, freq="11D")
    angle = 2 * np.pi * (days.day_of_year - 1) / np.where(days.is_leap_year, 366, 365)
    since = (days - pd.Timestamp("1970-01-01")).days
    table = pd.DataFrame({"day": days.strftime(form), "price": np.sin(angle) + 1e-3 * since})
    _, model = fitted(capsys, write(table, here / "data.csv"), "--season", "day")
    assert {*model.feature_names_in_} == {"day", "day_sin", "day_cos"}
    made = pd.DataFrame({"day": since, "day_sin": np.sin(angle), "day_cos": np.cos(angle)})
    assert main(["predict", "model.skops", "data.csv", "--out", "out.csv"]) == 0
    told = pd.read_csv("out.csv")["mean"]
    np.testing.assert_allclose(told, model.predict(made[model.feature_names_in_]))
    np.testing.assert_allclose(told, table["price"], atol=1e-3)


@pytest.mark.parametrize("kind", ["linear", "rvm", "effects"])
def test_missing_values_are_filled_in_at_predict_too(kind, houses, here, capsys):
    houses["size"] = houses["size"].mask(np.arange(ROWS) % 7 == 0)
    houses.loc[[2, 4], "town"] = np.nan
    data, words = (
        write(houses, here / "data.csv"),
        ["--impute", "--model", kind, "--test-size", "0"],
    )
    _, model = fitted(capsys, data, *words)
    filled = houses.fillna({"size": houses["size"].median(), "town": "missing"})
    assert main(["predict", "model.skops", data, "--out", "out.csv"]) == 0
    told = pd.read_csv("out.csv")
    assert np.isfinite(told).all(axis=None)
    assert main(["report", "model.skops", data, "--out", "page.html"]) == 0
    # Without the indicator a row is as one that holds the median.
    here_too = model[:-1].transform(filled.drop(columns="price"))
    mask = [name for name in here_too if "missingindicator_size" in name]
    assert len(mask) == 1
    both = model[:-1].transform(houses.drop(columns="price"))
    np.testing.assert_allclose(
        both.drop(columns=mask).select_dtypes("number"),
        here_too.drop(columns=mask).select_dtypes("number"),
    )
    assert both[mask[0]].nunique() == 2


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_bad_rows_do_not_lose_the_others(suffix, houses, here, capsys):
    fitted(capsys, write(houses, here / "data.csv"))
    assert main(["predict", "model.skops", "data.csv", "--out", "all.csv"]) == 0
    whole = pd.read_csv("all.csv")
    for row, name, cell in ((1, "size", "big"), (3, "rooms", None), (5, "size", "inf")):
        houses = put(name, row, cell)(houses)
    write(houses, here / "bad.csv")
    capsys.readouterr()
    error = error_of(capsys, ["predict", "model.skops", "bad.csv"])
    assert "column 'size' holds 'big' in row 1 and 1 more" in error
    assert "--skip-bad" in error
    out = f"out{suffix}"
    assert main(["predict", "model.skops", "bad.csv", "--skip-bad", "--out", out]) == 0
    assert "57 predictions written to" in (printed := capsys.readouterr().out)
    assert "3 rows left empty" in printed
    reads = {".csv": pd.read_csv, ".tsv": pd.read_table, ".parquet": pd.read_parquet}
    told = reads[suffix](out)
    empty = told.isna().all(axis="columns")
    assert list(told.index[empty]) == [1, 3, 5]
    pd.testing.assert_frame_equal(told[~empty], whole[~empty])


def test_classes_of_rows_that_are_left_empty_stay_whole_numbers(houses, here, capsys):
    data = write(houses.assign(price=1 + (houses["size"] > 100)), here / "data.csv")
    fitted(capsys, data)
    write(put("size", 0, "?")(houses), here / "bad.csv")
    assert main(["predict", "model.skops", "bad.csv", "--skip-bad", "--out", "out.csv"]) == 0
    told = pd.read_csv("out.csv", dtype=str)["predicted"]
    assert told.isna()[0]
    assert {*told[1:]} == {"1", "2"}


def test_identifiers_are_carried_along(houses, here, capsys):
    houses = houses.assign(id=[f"h{row}" for row in range(ROWS)], mean=1)
    fitted(capsys, write(houses, here / "data.csv"))
    words = ["predict", "model.skops", "data.csv", "--out", "out.csv"]
    assert main([*words, "--keep", "id", "--keep", "town", "--coverage", "0.9"]) == 0
    told = pd.read_csv("out.csv")
    assert list(told) == ["id", "town", "mean", "std", "lower_90", "upper_90"]
    pd.testing.assert_series_equal(told["id"], houses["id"])
    capsys.readouterr()
    assert "--keep mean has the name of a prediction" in error_of(
        capsys, [*words, "--keep", "mean"]
    )
    assert "has no column flat" in error_of(capsys, [*words, "--keep", "flat"])


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.999])
def test_intervals_are_those_of_the_coverage(coverage, houses, here, capsys):
    _, model = fitted(capsys, write(houses, here / "data.csv"))
    words = ["predict", "model.skops", "data.csv", "--out", "out.csv"]
    assert main([*words, "--coverage", str(coverage)]) == 0
    inputs = model[:-1].transform(houses[model.feature_names_in_])
    expected = model[-1].predict_interval(inputs, coverage)
    np.testing.assert_allclose(pd.read_csv("out.csv").iloc[:, 2:].T, expected)


def test_intervals_of_counts_are_counts(here, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 80)
    data = write(pd.DataFrame({"x": x, "price": rng.poisson(np.exp(x))}), here / "data.csv")
    words = ["--model", "rvm", "--likelihood", "poisson", "--task", "regression"]
    fitted(capsys, data, *words)
    assert main(["predict", "model.skops", data, "--out", "out.csv"]) == 0
    ends = pd.read_csv("out.csv")[["lower_95", "upper_95"]].to_numpy()
    assert (ends >= 0).all()
    np.testing.assert_array_equal(ends, ends.round())


def test_standard_input_and_output(houses, here, capsys, monkeypatch):
    text = commas(houses).encode()

    def typed(words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main(words) == 0
        return capsys.readouterr()

    typed(["fit", "-", *FIT, "--out", "model.skops"])
    out, err = typed(["predict", "model.skops", "-"])
    assert err == "60 predictions written to -\n"
    assert typed(["predict", "model.skops", "-", "--out", "out.csv"]).err == ""
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), pd.read_csv("out.csv"))
    typed(["report", "model.skops", "-", "--out", "page.html"])


def test_unknown_categories_are_told_by_the_name_of_their_column(houses, here, capsys):
    fitted(capsys, write(houses, here / "data.csv"))
    houses.loc[[0, 1], "town"] = "Rom"
    data = write(houses, here / "new.csv")
    assert main(["predict", "model.skops", data, "--out", "out.csv"]) == 0
    assert capsys.readouterr().err == (
        "relvec: warning: unknown categories in column 'town', which count as none of the known: "
        "Rom\n"
    )


def test_categories_are_the_same_however_they_are_stored(houses, here, capsys):
    data = write(houses, here / "data.csv")
    fitted(capsys, data, "--categories", "rooms")
    assert main(["predict", "model.skops", data, "--out", "out.csv"]) == 0
    for kind in (float, "category", str):
        other = write(houses.astype({"rooms": kind}), here / "other.parquet")
        assert main(["predict", "model.skops", other, "--out", "other.csv"]) == 0
        assert capsys.readouterr().err == ""
        assert (here / "out.csv").read_bytes() == (here / "other.csv").read_bytes()


def test_numbers_of_eight_digits_that_are_no_dates_are_numbers(houses, here, capsys):
    data = write(houses.assign(part=20_000_000 + 7919 * np.arange(ROWS)), here / "data.csv")
    lines, _ = fitted(capsys, data)
    assert lines["numbers"] == "size, rooms, part"


#: Files of statsmodels, made by many hands: other encodings, separators, marks and lines of titles.
STATSMODELS = find_spec("statsmodels")
PUBLIC = sorted(Path(STATSMODELS.origin).parent.glob("datasets/*/**/*.csv")) if STATSMODELS else []


@pytest.mark.parametrize("path", PUBLIC[::2], ids=lambda path: path.stem)
def test_public_files_are_fitted_or_told(path, here, capsys):
    first = path.read_text(encoding="latin-1").partition("\n")[0]
    target = re.split("[,;\t]", first.strip())[-1].strip('" ')
    words = ["--target", target, "--model", "linear", "--impute", "--drop-missing"]
    code = main(["fit", str(path), *words])
    out, err = capsys.readouterr()
    assert code in (0, 2)
    assert all(line.startswith("relvec: ") for line in err.splitlines())
    assert ("relvec: error: " in err) == (code == 2)
    assert code or report(out)["rows"]


def test_numbers_that_stand_for_missing_values_are_told(houses, here, capsys):
    houses.loc[[3, 7], "size"] = -999
    data = write(houses, here / "data.csv")
    assert main(["fit", data, *FIT]) == 0
    warning = capsys.readouterr().err
    assert "column 'size' holds -999, far from all others" in warning
    (remedy,) = re.findall(r"--na=\S+", warning)
    assert "2 of 60 rows have missing values" in error_of(capsys, ["fit", data, *FIT, remedy])
    assert main(["fit", data, *FIT, remedy, "--impute"]) == 0
    assert "far from" not in capsys.readouterr().err


@pytest.mark.parametrize("how", ["to_json", "to_html"])
def test_tables_of_another_format_are_told(how, houses, here, capsys):
    Path("data.txt").write_text(getattr(houses, how)(), encoding="utf-8")
    assert "it is JSON, HTML or XML" in error_of(capsys, ["fit", "data.txt", *FIT])


def test_a_constant_target_is_told(houses, here, capsys):
    assert main(["fit", write(houses.assign(price=5.0), here / "data.csv"), *FIT]) == 0
    assert (
        "the target 'price' has one value, 5.0: there is nothing to learn"
        in capsys.readouterr().err
    )


def test_the_model_knows_how_it_was_made(houses, here, capsys):
    _, model = fitted(capsys, write(houses, here / "data.csv"), "--impute", "--na", "none")
    assert model.preparation_["target"] == "price"
    assert model.preparation_["options"]["kind"] == "linear"
    assert model.preparation_["form"]["na"] == ("none",)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"relvec {model.preparation_['version']}\n"


def test_points_that_may_mark_thousands_are_warned_of_and_read_as_said(here):
    path = here / "points.csv"
    path.write_text("size;price;share\n950;1.234;0.125\n;950;0.250\n31;12.000;0.375\n")
    with pytest.warns(UserWarning, match=r"'price' has three digits behind every point") as told:
        table, _ = read_table(path)
    assert table["price"].tolist() == [1.234, 950, 12]
    assert len(told) == 1
    ways = re.findall(r"--(\w+)=(\S)", str(told.list[0].message))
    read = [read_table(path, Format(**{name: mark}))[0] for name, mark in ways]
    assert [one["price"].tolist() for one in read] == [[1234, 950, 12000], [1.234, 950, 12]]
    assert all(one["share"].tolist() == [0.125, 0.25, 0.375] for one in read)


def test_dates_whose_year_has_two_digits_are_read_as_the_error_says(houses, here, capsys):
    when = pd.Series(pd.date_range("2024-01-01", periods=ROWS))
    data = write(houses.assign(when=when.dt.strftime("%d.%m.%y")), here / "dates.csv")
    (way,) = re.findall(r"--date-format=\S+", error_of(capsys, ["fit", data, *FIT]))
    assert fitted(capsys, data, way)[0]["dates"].startswith("when")
