"""Bad arguments are refused in `fit`, by name, with what was got and what was expected."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from relvec import RVC, RVR
from relvec.basis import RBF
from tests.support.inputs import noisy_sinc, threshold


def words(*patterns):
    """A pattern that needs every one of the given patterns, in any order."""
    return "(?si)" + "".join(f"(?=.*{pattern})" for pattern in patterns)


POSITIVE = r"(positive|> ?0|greater than 0|above 0)"
WHOLE = r"(int|whole)"


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("kernel", "gaussian", "rbf"),
        ("kernel", 3, "function"),
        ("kernel", None, "rbf"),
        ("gamma", -1.0, POSITIVE),
        ("gamma", 0.0, POSITIVE),
        ("gamma", np.nan, POSITIVE),
        ("gamma", np.inf, "finite"),
        ("gamma", "wide", "scale"),
        ("gamma", [1.0, 2.0, 3.0], "1"),
        ("gamma", [-1.0], POSITIVE),
        ("gamma", None, POSITIVE),
        ("degree", 0, WHOLE),
        ("degree", 2.5, WHOLE),
        ("coef0", np.nan, "finite"),
        ("fit_intercept", "no", "bool"),
        ("centers", 0, "1"),
        ("centers", -3, "1"),
        ("centers", 21, "20"),
        ("centers", "all", "array"),
        ("centers", np.zeros((4, 2)), "1"),
        ("centers", np.zeros(4), "2"),
        ("centers", np.full((4, 1), np.nan), "(finite|NaN)"),
        ("solver", "newton", "sequential"),
        ("alpha_prior", (0.0, 1.0), "sequential.*closed form"),
        ("alpha_prior", (1.0, 0.0), "rate.*no maximum"),
        ("alpha_prior", (-1.0, 1.0), ">= 0"),
        ("alpha_prior", (0.0, np.nan), "finite"),
        ("alpha_prior", (0.0, np.inf), "finite"),
        ("alpha_prior", (1.0,), "pair"),
        ("alpha_prior", 1.0, "pair"),
        ("alpha_prior", ("a", "b"), "number"),
        ("n_starts", 0, "1"),
        ("n_starts", 1.5, WHOLE),
        ("tol", 0.0, POSITIVE),
        ("tol", -1e-3, POSITIVE),
        ("tol", np.nan, POSITIVE),
        ("max_iter", 0, "1"),
        ("max_iter", 10.5, WHOLE),
        ("max_iter", "many", WHOLE),
    ],
)
def test_parameter(argument, value, expected, machine):
    X, y = noisy_sinc(20)
    kernel = {"degree": "poly", "coef0": "poly"}.get(argument, "rbf")
    model = machine.make(**{"kernel": kernel, argument: value})
    got = f"({re.escape(str(value))}|{type(value).__name__})" if np.ndim(value) == 0 else ""
    with pytest.raises((ValueError, TypeError), match=words(argument, got, expected)):
        model.fit(X, machine.target(y))


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
@pytest.mark.parametrize("value", [0.0, -0.1, np.nan, np.inf, "low"])
def test_noise_variance(value, likelihood):
    X, y = noisy_sinc(20)
    model = RVR(noise_variance=value, likelihood=likelihood)
    with pytest.raises((ValueError, TypeError), match=words("noise_variance", POSITIVE)) as raised:
        model.fit(X, np.abs(y))
    assert str(value) in str(raised.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [((-1.0, 0.0), ">= 0"), ((0.0, -1.0), ">= 0"), ((np.inf, 0.0), "finite"), (None, "pair")],
)
def test_beta_prior(value, expected):
    X, y = noisy_sinc(20)
    with pytest.raises((ValueError, TypeError), match=words("beta_prior", expected)):
        RVR(beta_prior=value).fit(X, y)


@pytest.mark.parametrize("parameters", [{"likelihood": "poisson"}, {"noise_variance": 0.1}])
def test_beta_prior_is_refused_where_no_noise_is_learnt(parameters):
    X, y = noisy_sinc(20)
    with pytest.raises(ValueError, match=words("beta_prior", "no noise is learnt")):
        RVR(beta_prior=(1.0, 0.1), **parameters).fit(X, np.abs(y))


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("multi_class", "crammer", "multinomial.*ovr"),
        ("multi_class", None, "multinomial.*ovr"),
        ("multi_class", ["ovr"], "multinomial.*ovr"),
        ("proba", "sampled", "integrated.*mode"),
        ("proba", True, "integrated.*mode"),
        ("proba", np.ones(2), "integrated.*mode"),
        ("approximation", "exact", "laplace.*variational"),
        ("class_weight", "auto", "balanced"),
        ("class_weight", 3, "balanced"),
        ("class_weight", [1.0, 2.0], "balanced"),
        ("class_weight", {True: -1.0}, POSITIVE),
        ("class_weight", {True: 0.0, False: 1.0}, POSITIVE),
        ("class_weight", {True: np.nan}, POSITIVE),
        ("class_weight", {True: np.inf}, "finite"),
        ("class_weight", {True: "heavy"}, POSITIVE),
        ("class_weight", {"eggs": 2.0}, "class"),
    ],
)
def test_parameter_of_a_classifier(argument, value, expected):
    X, above = threshold()
    got = value if isinstance(value, str | int) else ""
    with pytest.raises((ValueError, TypeError), match=words(argument, str(got), expected)):
        RVC(**{argument: value}).fit(X, above)


@pytest.mark.parametrize(
    ("parameters", "patterns"),
    [
        ({"likelihood": "bernoulli"}, ["likelihood", "bernoulli", "gaussian.*poisson"]),
        ({"likelihood": None}, ["likelihood", "None", "gaussian.*poisson"]),
        ({"likelihood": ["poisson"]}, ["likelihood", "gaussian.*poisson"]),
        ({"noise_variance": 0.1}, ["noise_variance", r"0\.1", "None", "likelihood", "poisson"]),
    ],
    ids=str,
)
def test_parameter_of_a_model_of_counts(parameters, patterns):
    X, y = noisy_sinc(20)
    with pytest.raises((ValueError, TypeError), match=words(*patterns)):
        RVR(**{"likelihood": "poisson", **parameters}).fit(X, np.abs(y))


@pytest.mark.parametrize("gamma", [-1.0, "wide", np.nan])
def test_parameter_of_a_kernel_object(gamma):
    with pytest.raises(ValueError, match=words("gamma", str(gamma))):
        RVR(kernel=RBF(gamma=gamma)).fit(*noisy_sinc(20))


def bad_inputs():
    X, _ = noisy_sinc(20)
    holed, infinite = X.copy(), X.copy()
    holed[3], infinite[3] = np.nan, np.inf
    return {
        "a row": (X[:, 0], "1D array"),
        "three axes": (X[:, :, None], "dim 3"),
        "NaN": (holed, "NaN"),
        "infinity": (infinite, "infinity"),
        "complex": (X * 1j, "[Cc]omplex"),
        "text": (X.astype(str).astype(object) + "m", "could not convert"),
        "no rows": (X[:0], "0 sample"),
        "no columns": (X[:, :0], "0 feature"),
        "fewer rows than targets": (X[:19], "(?s)19.*20|20.*19"),
    }


@pytest.mark.parametrize("kind", bad_inputs())
def test_inputs(kind, machine):
    X, message = bad_inputs()[kind]
    with pytest.raises(ValueError, match=message):
        machine.make().fit(X, machine.target(noisy_sinc(20)[1]))


def bad_y():
    _, y = noisy_sinc(20)
    holed = y.copy()
    holed[3] = np.nan
    return {
        "none": (None, "y"),
        "NaN": (holed, "(?s)y.*NaN"),
        "infinity": (np.where(y > 0.5, np.inf, y), "(?s)y.*infinity"),
        "complex": (y * 1j, "[Cc]omplex"),
        "text": (np.where(y > 0, "high", "low"), "could not convert|strings|numeric"),
        "three axes": (np.ones((20, 2, 2)), "dim 3"),
        "None in it": (np.where(y > 0.5, None, y), "(?s)y.*NaN"),
        "sparse": (csr_array(np.column_stack([y, y])), "y is a sparse matrix"),
        "one number": (y[0], "y|array"),
    }


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
@pytest.mark.parametrize("kind", bad_y())
def test_targets(kind, likelihood):
    y, message = bad_y()[kind]
    with pytest.raises((ValueError, TypeError), match=message):
        RVR(likelihood=likelihood).fit(noisy_sinc(20)[0], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"multi_output": "both"}, r"multi_output='both', expected one of \['shared', 'ind"),
        ({"multi_output": None}, "multi_output=None, expected"),
        ({"likelihood": "poisson"}, "likelihood='poisson', expected 'gaussian' with 2 targets"),
        ({"alpha_prior": (1.0, 1.0), "solver": "em"}, r"alpha_prior=\(1.0, 1.0\), expected"),
    ],
)
def test_several_targets(parameters, message):
    X, y = noisy_sinc(20)
    with pytest.raises(ValueError, match=message):
        RVR(**parameters).fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("columns", [1, 3])
def test_evidence_of_other_data_is_that_of_as_many_targets(columns):
    X, y = noisy_sinc(20)
    model = RVR().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=f"y has {columns} columns, expected 2"):
        model.log_evidence(X, np.ones((20, columns)) if columns > 1 else y)


@pytest.mark.parametrize(
    ("y", "patterns"),
    [
        (np.r_[-3.0, np.ones(19)], [r"\by\b", "-3", ">= 0"]),
        (np.r_[-1e-9, np.ones(19)], [r"\by\b", "-1e-09", ">= 0"]),
        (np.zeros(20), [r"\by\b", "zero", "positive"]),
    ],
    ids=["negative", "hardly negative", "all zero"],
)
def test_counts(y, patterns):
    X = noisy_sinc(20)[0]
    with pytest.raises(ValueError, match=words(*patterns)):
        RVR(likelihood="poisson").fit(X, y)
    model = RVR(likelihood="poisson").fit(X, np.arange(20))
    with pytest.raises(ValueError, match=words(*patterns)):
        model.log_evidence(X, y)


def test_counts_without_any_of_a_weight():
    y = np.r_[np.zeros(19), 7.0]
    with pytest.raises(ValueError, match=words(r"\by\b", "zero", "positive")):
        RVR(likelihood="poisson").fit(noisy_sinc(20)[0], y, sample_weight=y == 0)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (np.ones(19), words("sample_weight", "19", "20")),
        (np.ones((20, 2)), words("sample_weight", re.escape("(20, 2)"))),
        (np.full(20, -1.0), words("sample_weight", "(negative|below 0)")),
        (np.r_[-0.5, np.ones(19)], words("sample_weight", "(negative|below 0)")),
        (np.full(20, np.nan), words("sample_weight", "NaN")),
        (np.zeros(20), words("weight", "zero")),
        (np.full(20, "heavy"), "could not convert string to float"),
    ],
    ids=["short", "two columns", "negative", "one negative", "NaN", "all zero", "text"],
)
def test_weights(weights, expected, machine):
    X, y = noisy_sinc(20)
    with pytest.raises((ValueError, TypeError), match=expected):
        machine.make().fit(X, machine.target(y), sample_weight=weights)


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (RVR(), "predict"),
        (RVR(), "predict_latent"),
        (RVR(), "sample_y"),
        (RVC(), "predict"),
        (RVC(), "predict_proba"),
        (RVC(), "predict_log_proba"),
        (RVC(), "decision_function"),
    ],
    ids=str,
)
def test_query_points(model, method):
    X, above = threshold()
    call = getattr(model.fit(X, above), method)
    with pytest.raises(ValueError, match=r"(?s)2 features.*1 feature"):
        call(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="NaN"):
        call(np.full((5, 1), np.nan))
    with pytest.raises(ValueError, match="0 sample"):
        call(np.zeros((0, 1)))


@pytest.mark.parametrize("n_samples", [0, -1, 1.5])
def test_number_of_sampled_functions(n_samples):
    X, y = noisy_sinc(20)
    with pytest.raises(
        (ValueError, TypeError), match=words("n_samples", re.escape(str(n_samples)))
    ):
        RVR().fit(X, y).sample_y(X, n_samples)


def test_evidence_of_other_data_needs_as_many_targets_as_rows(machine):
    X, y = noisy_sinc(20)
    y = machine.target(y)
    with pytest.raises(ValueError, match=r"(?s)20.*19|19.*20"):
        machine.make().fit(X, y).log_evidence(X, y[:19])


@pytest.mark.parametrize("weight", [1e-60, 1e60])
def test_weights_out_of_all_proportion(weight, machine):
    X, y = noisy_sinc(20)
    with pytest.raises(OverflowError, match=r"sample_weight reaches from .*1e-50 to 1e\+50"):
        machine.make().fit(X, machine.target(y), sample_weight=np.r_[weight, np.ones(19)])


@pytest.mark.parametrize("labels", [[0.5, 1.0, 2.0], [[0, 1], [1, 0], [1, 1]]])
def test_labels_that_are_none_are_refused_by_name(labels):
    with pytest.raises(ValueError, match=r"\by\b"):
        RVC().fit(np.arange(3.0)[:, None], labels)


@pytest.mark.parametrize("gamma", [1j, [1j], "wide", None, {"a": 1}, csr_array([[1.0]])], ids=repr)
def test_gamma_that_is_no_number_is_refused_by_name(gamma):
    with pytest.raises((ValueError, TypeError), match="gamma"):
        RVR(gamma=gamma).fit(*noisy_sinc(20))


@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
def test_noise_out_of_all_proportion_to_the_target(unit):
    """Less than the rounding errors of y, or so much that y is nothing beside it."""
    X, y = noisy_sinc(20)
    for share in (1e-200, 1e-33, 1e120):
        noise = float(share * np.var(y) * unit**2)
        with pytest.raises(OverflowError, match=r"noise_variance=.* and the variance of y"):
            RVR(noise_variance=noise).fit(X, unit * y)
    RVR(noise_variance=1e-31 * np.var(y) * unit**2).fit(X, unit * y)


def test_noise_of_rows_out_of_all_proportion_to_that_of_others():
    X, y = noisy_sinc(20)
    variances = np.r_[1e-60, np.ones(19)]
    with pytest.raises(OverflowError, match="noise_variance_per_row reaches from 1e-60 to 1"):
        RVR().fit(X, y, noise_variance_per_row=variances)
