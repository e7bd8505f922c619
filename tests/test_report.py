"""The page that shows every table and figure of the paper."""

import base64
import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm

from benchmarks import staged as staged_data
from benchmarks.paper import ripley, scales
from benchmarks.paper.__main__ import main
from benchmarks.paper.draws import seeds
from benchmarks.paper.report import classification, priors, regression
from benchmarks.paper.report.build import PARTS
from benchmarks.paper.report.page import Part, Table, render
from benchmarks.table import format_mean
from relvec import RVC, RVR
from relvec.basis import RBF, LinearSpline, Polynomial
from relvec.datasets import make_overlapping_uniforms, make_sinc
from tests.support import needs

CHEAP = ["sinc", "priors", "covariances"]
#: Attributes by which a page loads or opens something else.
REFERENCES = {"src", "href", "srcset", "data", "action", "poster", "background", "xlink:href"}


class Page(HTMLParser):
    """The attributes of every element, and the text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def build(path, *arguments):
    main(["all", "--output", str(path), *arguments])
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    only = [word for name in reversed(CHEAP) for word in ("--only", name)]
    return build(path, "--repetitions", "2", *only)


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Leave the readers no folder to find: an empty one, and none beside anything."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    monkeypatch.chdir(checkout)
    monkeypatch.setattr(staged_data, "__file__", str(checkout / "benchmarks" / "staged.py"))
    return tmp_path


def test_the_page_refers_to_nothing_outside_itself(source, page):
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"link", "script", "iframe", "object", "embed", "base"}
    for tag, attributes in page.elements:
        for name in REFERENCES & attributes.keys():
            assert attributes[name].startswith("data:image/png;" if tag == "img" else "#")
        assert "style" not in attributes
    assert not re.search(r"url\(|@import", source)


def test_every_picture_is_embedded_and_described(page):
    pictures = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(pictures) == 2 + 1 + 3  # figures 1 and 2; 6; 7, 8 and 9
    for picture in pictures:
        encoded = picture["src"].removeprefix("data:image/png;base64,")
        assert base64.b64decode(encoded, validate=True).startswith(b"\x89PNG\r\n")
        assert picture["alt"]


def test_links_lead_to_parts_of_the_page(page):
    places = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert len(links) == len(CHEAP)
    assert {f"#{place}" for place in places} == set(links)


def test_parts_stand_in_the_order_of_the_paper(source):
    titles = re.findall("<h2>(.*?)</h2>", source)
    assert [title.split(":")[0] for title in titles] == [
        "Figures 1 and 2",
        "Figure 6",
        "Figures 7, 8 and 9",
    ]


def cells(source, row):
    """The cells of the row of a table whose first cell is `row`."""
    (found,) = re.findall(rf'<tr><th scope="row">{re.escape(row)}</th>(.*?)</tr>', source)
    return [html.unescape(cell) for cell in re.findall("<td>(.*?)</td>", found)]


def test_numbers_are_those_of_the_fits(source):
    grid, truth = make_sinc(2001, noise_scale=0)
    exact = RVR(LinearSpline(), noise_variance=0.01**2).fit(*make_sinc(noise_scale=0))
    errors, vectors = [], []
    for seed in range(2):
        noisy = make_sinc(noise="uniform", noise_scale=0.2, random_state=seed)
        model = RVR(LinearSpline()).fit(*noisy)
        errors.append(np.sqrt(np.mean((model.predict(grid) - truth) ** 2)))
        vectors.append(len(model.relevance_))
    largest = np.abs(exact.predict(grid) - truth).max()
    assert cells(source, "Figure 1: vectors")[3] == str(len(exact.relevance_))
    assert cells(source, "Figure 1: largest error")[3] == f"{largest:.4f}"
    assert cells(source, "Figure 2: RMS error")[3] == format_mean(errors)
    assert cells(source, "Figure 2: vectors")[3] == format_mean(vectors)


def test_figure_3_shows_the_paper_beside_both_machines(tmp_path):
    needs.staged(staged_data.find_staged, "ripley")
    source = build(tmp_path / "report.html", "--only", "ripley", "--repetitions", "2")
    draws = [ripley.draw(seed) for seed in seeds(2)]
    errors = [[d.error(d.svc) for d in draws], [d.error(d.rvc) for d in draws]]
    assert cells(source, "test error, %") == ["10.6", "9.3", *map(format_mean, errors)]


@pytest.mark.slow
def test_section_4_3_measures_the_learnt_scales(tmp_path):
    source = build(tmp_path / "report.html", "--only", "scales", "--repetitions", "2")
    assert source.count("data:image/png;base64,") == 2  # figures 4 and 5
    squares, second = [], []
    for split in map(scales.draw, seeds(2)):
        model = RVR([Polynomial(degree=2), RBF("ard")]).fit(split.X_train, split.y_train)
        squares.append(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
        second.append(model.dual_coef_[model.basis_.names().index("x1")])
    assert cells(source, "RVR, terms and learnt scales")[:2] == ["0.0053", format_mean(squares)]
    assert cells(source, "weight of x₂")[3] == format_mean(second)


@pytest.mark.slow
def test_figure_10_measures_the_log_odds(tmp_path):
    source = build(tmp_path / "report.html", "--only", "log-odds", "--repetitions", "2")
    assert source.count("data:image/png;base64,") == 2  # appendix D.1 and figure 10
    overlap, rms = np.linspace(0.5, 1.0, 201)[:, None], []
    for seed in seeds(2):
        model = RVC(gamma=100.0).fit(*make_overlapping_uniforms(random_state=seed))
        rms.append(np.sqrt(np.mean(model.decision_function(overlap) ** 2)))
    assert cells(source, "RVC")[0] == format_mean(rms)


def test_the_page_says_what_was_not_measured(page):
    for name in set(PARTS) - set(CHEAP):
        assert name in page.text


def test_a_run_that_is_stopped_leaves_what_it_has_found(tmp_path, monkeypatch):
    def stop(settings):
        raise KeyboardInterrupt

    monkeypatch.setitem(PARTS, "covariances", stop)
    path = tmp_path / "report.html"
    with pytest.raises(KeyboardInterrupt):
        build(path, "--only", "priors", "--only", "covariances")
    page = Page(path.read_text(encoding="utf-8"))
    assert "Figure 6" in page.text
    assert "covariances" in page.text  # among the parts left out


@pytest.mark.parametrize("part", ["ripley", "classification"])
def test_missing_data_are_named(part, no_data, capsys):
    page = Page(build(no_data / "report.html", "--only", part, "--repetitions", "2"))
    names = {"ripley": ["ripley"], "classification": ["pima", "raetsch_german", "usps"]}[part]
    for name in names:
        missing = f"data set '{name}' not found in {no_data}"
        assert page.text.count(missing) == 2  # at the top, and in its part
        assert missing in capsys.readouterr().out or name != names[0]


def test_a_table_shows_the_paper_s_numbers_where_data_are_missing():
    rows = regression.table("Error", "error", 0, {}).rows
    assert rows[-2] == ["boston", "", "", "", "8.04", "7.46", "missing", "missing"]


def test_boston_without_data_is_found_missing(no_data):
    part = Part("title", [], "")
    with part.names_missing_data("section 4.4.1, boston"):
        regression.measured("boston", 2, None)
    assert part.missing[0].startswith("section 4.4.1, boston: data set 'boston_housing' not found")


def test_published_numbers_have_the_paper_s_normalised_means():
    for index, mean in enumerate(["0.86", "0.15"]):
        assert regression.table("", "", index, {}).rows[-1][5] == mean
    for index, mean in enumerate(["1.08", "0.17"]):
        assert classification.table("", "", index, {}).rows[-1][5] == mean


def test_a_row_of_too_few_cells_is_refused():
    with pytest.raises(ValueError, match="2 cells"):
        Table("caption", ["a", "b"], [["only one"]])


def test_text_is_not_taken_for_markup():
    part = Part("<script>", ["a < b & c"], "")
    page = Page(render([part], {"fact": "<b>"}))
    assert "a < b & c" in page.text
    assert not {"script", "b"} & {tag for tag, _ in page.elements}


@pytest.mark.parametrize("repetitions", ["1", "0"])
def test_a_count_without_a_standard_error_is_refused(repetitions, capsys):
    with pytest.raises(SystemExit):
        main(["all", "--repetitions", repetitions])
    assert "expected at least 2" in capsys.readouterr().err


@pytest.mark.parametrize("w", [0.3, -1.0, 2.5])
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (2.0, 0.5)])
def test_figure_6_draws_the_prior_with_the_precision_integrated_out(w, a, b):
    """Eq. 32 is the integral of N(w | 0, 1/α) over α from Gamma(a, b), b a rate."""

    def integrand(log_alpha):
        alpha = np.exp(log_alpha)
        prior = gamma.pdf(alpha, a, scale=1 / b)
        return norm.pdf(w, scale=1 / np.sqrt(alpha)) * prior * alpha

    expected, _ = quad(integrand, -60, 10, limit=400)
    assert np.exp(priors.log_student(w, a, b)) == pytest.approx(expected, rel=1e-6)
