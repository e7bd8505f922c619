"""`relvec report`: one page, that says what the library says and that a browser shows whole."""

import base64
import contextlib
import html
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from relvec import importance, log_density
from relvec._commands.main import main
from relvec.storage import load, save
from tests.support.browser import DESKTOP, PHONE
from tests.support.commands import error_of, write

#: A model of each kind that has pictures of its own.
WORDS = {
    "price": ["--gamma", "ard"],
    "kind": ["--model", "effects"],
    "species": ["--model", "rvm"],
}
NASTY = "<b>town</b> in $^$ & \"more\" <script>document.title = 'run'</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of numbers, of two classes and of three, with rows that they have not seen."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    size, town = rng.uniform(20, 200, 90), rng.choice(["hill", "<i>harbour</i>"], 90)
    price = 3 * np.sin(size / 40) + (town == "hill") + rng.normal(scale=0.3, size=90)
    tumours = load_breast_cancer(as_frame=True)
    kind = tumours.target_names[tumours.target]
    irises = load_iris(as_frame=True).frame.drop_duplicates()  # two flowers are equal
    tables = {
        "price": pd.DataFrame({"size": size, NASTY: town, "price": price}),
        "kind": tumours.data[["mean radius", "mean texture"]].assign(kind=kind),
        "species": irises.rename(columns={"target": "species"}),
    }
    for target, table in tables.items():
        words = WORDS[target]
        write(table[::2], folder / "fit.csv")
        write(table[1::2], folder / f"{target}.parquet")
        saved = ["--out", str(folder / f"{target}.skops"), "--test-size", "0"]
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            assert main(["fit", str(folder / "fit.csv"), "--target", target, *saved, *words]) == 0
            assert main(["report", *files(folder, target), "--out", str(page(folder, target))]) == 0
        assert errors.getvalue() == ""
    return folder


def files(folder, target):
    return [str(folder / f"{target}.skops"), str(folder / f"{target}.parquet")]


def page(folder, target):
    return folder / f"{target}.html"


def facts(text):
    """Names and texts of the lines of a page."""
    lines = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text, flags=re.DOTALL)
    return {html.unescape(name): html.unescape(value) for name, value in lines}


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
@pytest.mark.parametrize("target", ["price", "kind", "species"])
def test_a_browser_shows_the_whole_page_from_the_file_alone(folder, browser, target, width, scheme):
    path = page(folder, target)
    shown = browser.open(path, width=width, scheme=scheme)
    assert [url for url in shown.asked if not url.startswith("data:")] == [path.as_uri()]
    assert shown.complaints == []
    assert len(shown.pictures) >= 2
    assert all(pixels > 100 for pixels in shown.pictures)
    assert shown.overflow <= 0
    assert shown.of("document.title").startswith(f"{target}: ")


def test_letters_stand_out_in_both_schemes(folder, browser):
    for scheme in ("light", "dark"):
        shown = browser.open(page(folder, "price"), scheme=scheme)
        page_tone, ink = (
            shown.of(f"getComputedStyle(document.body).{name}")
            for name in ("backgroundColor", "color")
        )
        assert _contrast(page_tone, ink) > 7
        quiet = shown.of("getComputedStyle(document.querySelector('.quiet')).color")
        assert _contrast(page_tone, quiet) > 4.5


def _contrast(one, other):
    """Ratio of luminances as the Web Content Accessibility Guidelines define it."""

    def luminance(tone):
        channels = np.array([int(number) for number in re.findall(r"\d+", tone)[:3]]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_numbers_are_those_of_the_model(folder):
    model, table = load(folder / "price.skops"), pd.read_parquet(folder / "price.parquet")
    lines = facts(page(folder, "price").read_text(encoding="utf-8"))
    X, y = table.drop(columns="price"), table["price"]
    mean, std = model.predict(X, return_std=True)
    rmse, spread = np.sqrt(np.mean((y - mean) ** 2)), y.std(ddof=0)
    assert lines["RMSE"] == f"{rmse:.4g} price (their mean as prediction: {spread:.4g})"
    held = 100 * np.mean(np.abs(y - mean) <= 1.959964 * std)
    assert lines["95 % interval"] == f"holds {held:.1f} % of the rows"
    machine = model[-1]
    assert lines["functions kept"] == f"{len(machine.relevance_)}, fitted to 45 rows"
    assert lines["log evidence"] == f"{machine.log_evidence_:.2f} nats"
    assert lines["noise sd"] == f"{np.sqrt(machine.noise_variance_):.4g} price"
    assert lines["status"] == machine.status_


def test_the_diagnosis_is_that_of_the_model(folder, tmp_path):
    model = load(folder / "price.skops")
    table = pd.read_parquet(folder / "price.parquet").head(20)
    table["size"] += 1000.0
    out = tmp_path / "far.html"
    words = [str(folder / "price.skops"), write(table, tmp_path / "far.csv"), "--out", str(out)]
    assert main(["report", *words]) == 0
    found = model[-1].diagnose(model[:-1].transform(table.drop(columns="price")), table["price"])
    assert found
    text = html.unescape(out.read_text(encoding="utf-8"))
    assert all(f"</strong>: {finding.fact}" in text for finding in found)


def test_classes_are_judged_and_mapped(folder):
    text = page(folder, "kind").read_text(encoding="utf-8")
    model, table = load(folder / "kind.skops"), pd.read_parquet(folder / "kind.parquet")
    right = np.mean(model.predict(table.drop(columns="kind")) == table["kind"])
    assert facts(text)["accuracy"].startswith(f"{right:.4g} (")
    assert "Probabilities of kind over the two inputs." in text
    species = page(folder, "species").read_text(encoding="utf-8")
    assert "<td>target</td><td>0 (25), 1 (25), 2 (24)</td>" in species
    assert "over the two inputs" not in species


def test_what_the_table_holds_is_text_and_never_markup(folder, browser):
    shown = browser.open(page(folder, "price"))
    assert NASTY in shown.text
    assert "<i>harbour</i> (" in shown.text
    assert "run" not in shown.of("document.title")


def test_the_same_page_every_time_without_letters_of_a_font(folder, tmp_path):
    again = tmp_path / "price.html"
    assert main(["report", *files(folder, "price"), "--out", str(again)]) == 0
    assert again.read_bytes() == page(folder, "price").read_bytes()
    pictures = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", again.read_text(encoding="utf-8"))
    assert not any(b"<text" in base64.b64decode(picture) for picture in pictures)


def test_rows_of_the_fit_are_said_to_flatter(folder, tmp_path):
    seen, out = (
        write(pd.read_csv(folder / "fit.csv"), tmp_path / "seen.csv"),
        tmp_path / "seen.html",
    )
    assert main(["report", str(folder / "species.skops"), seen, "--out", str(out)]) == 0
    kept = len(load(folder / "species.skops")[-1].relevance_vectors_)
    words = " ".join(out.read_text(encoding="utf-8").split())
    assert f"{kept} of the {kept} rows that the model keeps are among them" in words
    assert "are among them" not in page(folder, "species").read_text(encoding="utf-8")


def test_many_rows_make_a_page_of_bounded_size(folder, tmp_path):
    table = pd.read_parquet(folder / "price.parquet")
    table = pd.concat([table] * 200)
    out = tmp_path / "many.html"
    words = [str(folder / "price.skops"), write(table, tmp_path / "many.parquet")]
    assert main(["report", *words, "--out", str(out)]) == 0
    assert out.stat().st_size < 1_000_000


def test_one_row_and_columns_of_no_use_are_shown_too(folder, tmp_path, capsys):
    table = pd.read_parquet(folder / "price.parquet").head(1)
    table["lists"] = [[1, 2]]
    table["when"] = pd.Timestamp("2024-02-29")
    table["nothing"] = np.nan
    out = tmp_path / "one.html"
    words = ["report", str(folder / "price.skops"), write(table, tmp_path / "one.parquet")]
    assert main([*words, "--target", "price", "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    text = html.unescape(out.read_text(encoding="utf-8"))
    assert "<td>not read</td><td>[1 2] (1)</td>" in text
    assert "<td>not read</td><td>2024-02-29 00:00:00 to 2024-02-29 00:00:00</td>" in text
    assert "<td>not read</td><td>none</td>" in text


def test_missing_values_are_refused_unless_dropped(folder, tmp_path, capsys):
    table = pd.read_parquet(folder / "kind.parquet")
    table.loc[table.index[:2], "mean radius"] = np.nan
    table["note"] = np.nan  # is not read, and the model knows its target
    words = ["report", str(folder / "kind.skops"), write(table, tmp_path / "holes.csv")]
    words += ["--out", str(tmp_path / "holes.html")]
    assert "2 of 284 rows have missing values (in mean radius: 2)" in error_of(capsys, words)
    assert main([*words, "--drop-missing"]) == 0
    assert "282 rows written" in capsys.readouterr().out
    assert "of which 2 with missing values" in (tmp_path / "holes.html").read_text(encoding="utf-8")
    table["mean radius"] = np.nan
    write(table, tmp_path / "holes.csv")
    assert "has no row to judge" in error_of(capsys, [*words, "--drop-missing"])


def test_what_is_wrong_is_said_in_one_line(folder, tmp_path, capsys):
    model, data = files(folder, "kind")
    out = ["--out", str(tmp_path / "page.html")]
    assert "has no column size" in error_of(
        capsys, ["report", str(folder / "price.skops"), data, *out]
    )
    assert "has no column colour" in error_of(
        capsys, ["report", model, data, "--target", "colour", *out]
    )
    table = pd.read_parquet(data)
    table["kind"] = "unclear"
    unknown = write(table, tmp_path / "unknown.csv")
    assert "holds unclear, which the model does not know; it knows benign, malignant" in error_of(
        capsys, ["report", model, unknown, *out]
    )
    bare = write(table.drop(columns="kind"), tmp_path / "bare.csv")
    assert "has no column kind" in error_of(capsys, ["report", model, bare, *out])
    assert not Path(out[1]).exists()


def test_a_model_of_an_earlier_version_has_its_target_told(folder, tmp_path, capsys):
    model, data = files(folder, "kind")
    earlier = load(model)
    del earlier.preparation_
    save(earlier, tmp_path / "earlier.skops")
    words, out = ["report", str(tmp_path / "earlier.skops")], ["--out", str(tmp_path / "page.html")]
    table = pd.read_parquet(data)
    bare = write(table.drop(columns="kind"), tmp_path / "bare.csv")
    assert "has 0 columns that the model does not read" in error_of(capsys, [*words, bare, *out])
    more = write(table.assign(note=1), tmp_path / "more.csv")
    assert "2 columns that the model does not read" in error_of(capsys, [*words, more, *out])
    assert main([*words, data, *out]) == 0
    assert main(["report", model, data, "--out", str(tmp_path / "known.html")]) == 0
    text = (
        (tmp_path / "page.html").read_text(encoding="utf-8").replace("earlier.skops", "kind.skops")
    )
    assert text == (tmp_path / "known.html").read_text(encoding="utf-8")


def test_inputs_are_told_by_effects_or_else_by_what_permuting_them_costs(folder):
    model, table = load(folder / "price.skops"), pd.read_parquet(folder / "price.parquet")
    X, y = table.drop(columns="price"), table["price"]
    lost = importance(model, X, y, scoring=log_density, random_state=0)
    assert lost.index[0] == "size"
    assert _rows(page(folder, "price"), "Which inputs matter") == [
        [name, *(f"{cell:.4g}" for cell in row)] for name, *row in lost.itertuples()
    ]
    found = load(folder / "kind.skops")[-1].effects_
    told = _rows(page(folder, "kind"), "Which inputs matter")
    assert [(name, share) for name, share, *_ in told] == [
        (name, f"{share:.4g}") for name, share in found["share"].items()
    ]


def _rows(path, title):
    """Cells of the rows of the table under a title."""
    text = path.read_text(encoding="utf-8").partition(f"<h2>{title}</h2>")[2]
    rows = re.findall(r"<tr>(.*?)</tr>", text.partition("</table>")[0])[1:]
    return [
        [html.unescape(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows
    ]


def test_functions_are_folded_away_until_asked_for(folder, browser):
    shown = browser.open(page(folder, "price"), width=PHONE)
    assert not shown.page.is_visible("details table")
    shown.page.click("summary")
    assert shown.page.is_visible("details table")
    assert shown.overflow <= 0
