"""The contract: a finite model, or an error that names the argument."""

import re
import warnings

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from relvec.exceptions import RelvecWarning

#: What a refusal may be about.
ARGUMENTS = (
    "X|y|sample_weight|noise_variance_per_row|noise_variance|centers|gamma|kernel|degree|coef0|"
    "n_samples|solver|likelihood|alpha_prior|beta_prior|features?|samples?|array"
)


def outcome(model, X, y, queries, *, everything=False, **given):
    """Fit and predict; the refusal, or None. Fails where the contract does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for told in (RelvecWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", told)
        try:
            model.fit(X, y, **given)
            check_finite(model, queries)
            if everything:
                check_the_rest(model, X, y, queries, **given)
        except (ValueError, TypeError, OverflowError) as refusal:
            if type(refusal) not in (ValueError, TypeError, OverflowError) or not re.search(
                rf"\b({ARGUMENTS})\b", str(refusal)
            ):
                raise AssertionError(f"this names no argument: {refusal!r}") from refusal
            return refusal
    return None


def check_finite(model, queries):
    """Everything that a fitted model says is finite; probabilities are some."""
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_).all()
    if is_classifier(model):
        probability = model.predict_proba(queries)
        assert ((probability >= 0) & (probability <= 1)).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-9)
        assert np.isfinite(model.decision_function(queries)).all()
        assert np.isin(model.predict(queries), model.classes_).all()
        return
    for mean, std in (
        model.predict(queries, return_std=True),
        model.predict_latent(queries, return_std=True),
    ):
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
        assert (std >= 0).all()


def check_the_rest(model, X, y, queries, **given):
    """What a fitted model says when it is asked for more is finite, too, or refused by name."""
    model.summary()
    model.diagnose()
    assert np.isfinite(model.log_evidence(X, y, **given))
    if is_classifier(model):
        return
    assert np.isfinite(model.predict_log_density(X, y)).all()
    low, high = model.predict_interval(queries)
    assert (low <= high).all()
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
