"""
A near-infrared calibration
===========================

*My spectrometer has 700 wavelengths, I have 80 samples from the laboratory. Which wavelengths do I
need, and how good are the predictions?*

The spectra are simulated by the law of Beer and Lambert: absorbance is the sum of what each
substance absorbs, in proportion to its share. Grain is taken for a mixture of water, starch, oil
and protein, with their broad bands at roughly the right places, and light is scattered differently
by every sample: its spectrum is stretched and shifted. Protein is to be predicted.
"""

# %%
# Spectra
# -------
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import savgol_filter
from sklearn.cross_decomposition import PLSRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR, SparseBayesianRegressor
from relvec.display import BLUE, INK, STEEL
from relvec.exceptions import UnderfitWarning

rng = np.random.RandomState(0)
wavelength = np.arange(1100, 2500, 2.0)
#: Centre and width in nm, and height, of the bands of each substance.
BANDS = {
    "water": [(1450, 60, 0.8), (1940, 60, 1.4)],
    "starch": [(1540, 70, 0.3), (2100, 60, 0.9), (2280, 40, 0.5), (2320, 40, 0.4)],
    "oil": [(1210, 30, 0.2), (1725, 25, 0.6), (1765, 25, 0.5), (2310, 25, 1.0), (2350, 25, 0.8)],
    "protein": [
        (1510, 40, 0.3),
        (1735, 30, 0.3),
        (1980, 40, 0.5),
        (2055, 35, 0.7),
        (2180, 35, 0.8),
    ],
}
pure = np.array(
    [
        sum(h * np.exp(-(((wavelength - c) / w) ** 2) / 2) for c, w, h in bands)
        for bands in BANDS.values()
    ]
)


def make_samples(number):
    """Spectra in absorbance, and protein in per cent."""
    water, oil, protein = (rng.uniform(*ends, number) for ends in [(8, 16), (1, 4), (8, 18)])
    shares = np.column_stack([water, 100 - water - oil - protein, oil, protein]) / 100
    stretch, shift = rng.normal(1, 0.1, (number, 1)), rng.normal(0.4, 0.1, (number, 1))
    noise = 3e-4 * rng.standard_normal((number, len(wavelength)))
    return stretch * (shares @ pure) + shift + noise, protein


def second_derivative(spectra):
    """Curvature along the wavelength, which shift and slope do not touch."""
    return savgol_filter(spectra, window_length=31, polyorder=3, deriv=2, axis=1)


spectra, protein = make_samples(80)
new_spectra, new_protein = make_samples(200)
X, X_new = second_derivative(spectra), second_derivative(new_spectra)

# %%
# Three calibrations
# ------------------
# Partial least squares is what the trade uses. `SparseBayesianRegressor` picks wavelengths; a
# relevance vector machine with a Gaussian kernel of the whole spectra can bend where the scattering
# makes the relation bend.
models = {
    "PLS": GridSearchCV(PLSRegression(), {"n_components": range(2, 16)}, cv=10),
    "wavelengths": SparseBayesianRegressor(),
    "kernel": make_pipeline(StandardScaler(), RVR(gamma="evidence")),
}
# Wavelengths cannot bend: their fit warns that residuals depend on X.
warnings.simplefilter("ignore", UnderfitWarning)
for name, model in models.items():
    error = root_mean_squared_error(new_protein, model.fit(X, protein).predict(X_new))
    print(f"{name}: root mean square error {error:.2f} % protein on new samples")

chosen = models["wavelengths"].relevance_
kernel = models["kernel"]
print(f"{len(chosen)} wavelengths picked: {', '.join(f'{w:.0f}' for w in wavelength[chosen])} nm")
print(f"{len(kernel[-1].relevance_)} of {len(X)} samples kept by the kernel model")

# %%
# What was picked, and what is predicted
# --------------------------------------
fig, (above, below) = plt.subplots(2, figsize=(6.4, 7.2), layout="constrained")
above.plot(wavelength, spectra[:20].T, color=STEEL, linewidth=0.6)
above.plot(wavelength, pure[3], "--", color=INK, linewidth=1.2, label="protein alone")
for place in wavelength[chosen]:
    above.axvline(place, color=BLUE, linewidth=1)
above.axvline(wavelength[chosen][0], color=BLUE, linewidth=1, label="wavelengths picked")
above.set(xlabel="wavelength (nm)", ylabel="absorbance")
above.legend(edgecolor="none", loc="upper left")

mean, std = kernel.predict(X_new, return_std=True)
below.errorbar(
    new_protein,
    mean - new_protein,
    1.96 * std,
    fmt="o",
    color=BLUE,
    ecolor=STEEL,
    markersize=3,
    elinewidth=1,
)
below.axhline(0, color=INK, linestyle="--", linewidth=1)
below.set(xlabel="protein (%)", ylabel="predicted less true protein (%)")
plt.show()

inside = abs(new_protein - mean) <= 1.96 * std
print(f"new samples inside the 95 % interval: {inside.mean():.0%}")

# %%
# Above, some spectra, and what protein alone absorbs. The wavelengths stand for differences between
# each other as much as for protein itself: what a wavelength says of protein it also says of what
# overlaps there. Below, the errors of the kernel model on new samples with their 95 % intervals.
