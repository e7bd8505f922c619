"""Published results on the public splits, none of them measured here.

The code of the first, second and fourth parts the rows by the rule of `published_rows`; the third
says that it follows the first. Kinds of error: `SE` is the standard error of the mean over the
splits, `SD` the standard deviation over the splits.

- Hernández-Lobato and Adams (2015), Probabilistic backpropagation for scalable learning of Bayesian
  neural networks, ICML, as Lakshminarayanan and others (2017) quote them in their table 1.
- Gal and Ghahramani (2016), Dropout as a Bayesian approximation, ICML, as run again by the authors
  in 2018 with a grid search in each split, since hyperparameters of the paper had seen test rows:
  readme of github.com/yaringal/DropoutUncertaintyExps at 6eb4497, columns "new".
- Lakshminarayanan, Pritzel and Blundell (2017), Simple and scalable predictive uncertainty
  estimation using deep ensembles, NIPS, table 1.
- Duan and others (2020), NGBoost, ICML, as Matsubara (2024), Wasserstein gradient boosting, quotes
  them in table 1. Their code takes `numpy.std` over the splits.
"""

from collections.abc import Mapping
from typing import NamedTuple

SE, SD = "standard error", "standard deviation"


class Figures(NamedTuple):
    """Root mean square error and its error, negative log density and its error."""

    error: float
    error_of_error: float
    loss: float
    error_of_loss: float


class Source(NamedTuple):
    """Where figures are from, their kind of error, and the figures by data set."""

    label: str
    kind: str
    figures: Mapping[str, Figures]


SOURCES = [
    Source(
        "PBP, Hernández-Lobato & Adams 2015",
        SE,
        {
            "boston": Figures(3.01, 0.18, 2.57, 0.09),
            "concrete": Figures(5.67, 0.09, 3.16, 0.02),
            "energy": Figures(1.80, 0.05, 2.04, 0.02),
            "power": Figures(4.12, 0.03, 2.84, 0.01),
            "protein": Figures(4.73, 0.01, 2.97, 0.00),
            "yacht": Figures(1.02, 0.05, 1.63, 0.02),
        },
    ),
    Source(
        "dropout, Gal & Ghahramani 2016, rerun 2018",
        SE,
        {
            "boston": Figures(2.90, 0.18, 2.40, 0.04),
            "concrete": Figures(4.82, 0.16, 2.93, 0.02),
            "energy": Figures(0.54, 0.06, 1.21, 0.01),
            "power": Figures(4.01, 0.04, 2.80, 0.01),
            "protein": Figures(4.27, 0.02, 2.87, 0.00),
            "yacht": Figures(0.67, 0.05, 1.25, 0.01),
        },
    ),
    Source(
        "deep ensembles, Lakshminarayanan & al. 2017",
        SD,
        {
            "boston": Figures(3.28, 1.00, 2.41, 0.25),
            "concrete": Figures(6.03, 0.58, 3.06, 0.18),
            "energy": Figures(2.09, 0.29, 1.38, 0.22),
            "power": Figures(4.11, 0.17, 2.79, 0.04),
            "protein": Figures(4.71, 0.06, 2.83, 0.02),
            "yacht": Figures(1.58, 0.48, 1.18, 0.21),
        },
    ),
    Source(
        "NGBoost, Duan & al. 2020",
        SD,
        {
            "boston": Figures(2.94, 0.53, 2.43, 0.15),
            "concrete": Figures(5.06, 0.61, 3.04, 0.17),
            "energy": Figures(0.46, 0.06, 0.60, 0.45),
            "power": Figures(3.79, 0.18, 2.79, 0.11),
            "protein": Figures(4.33, 0.03, 2.81, 0.03),
            "yacht": Figures(0.50, 0.20, 0.20, 0.26),
        },
    ),
]
