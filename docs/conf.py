"""Configuration of the documentation site: ``make docs`` builds it, and any warning fails it."""

import sys
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

import relvec

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "relvec"
author = "The relvec developers"
copyright = author  # noqa: A001
version = release = relvec.__version__

extensions = [
    "myst_parser",
    "drawn_formulas",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
smartquotes = False  # "rbf" is code
default_role = "literal"  # docstrings write `name` for what is code

myst_enable_extensions = ["attrs_block", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_math_renderer = "drawn"

# API pages: one for each name in __all__, made from numpydoc docstrings.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
# What scikit-learn's base classes bring is documented there.
autodoc_default_options = {
    "inherited-members": "BaseEstimator, RegressorMixin, ClassifierMixin, TransformerMixin, list",
}
numpydoc_show_class_members = False

# The docstrings refer to classes of these by name; their sites are not read while building.
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|matplotlib|pandas)\..*")]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "image_scrapers": ("strict_examples.labels_are_given", "matplotlib"),
    "reset_modules": ("matplotlib", "seaborn", "strict_examples.warnings_are_errors"),
    "reset_modules_order": "both",
    "within_subsection_order": FileNameSortKey,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("relvec",),
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
}
suppress_warnings = ["config.cache"]  # the sort key is a class, which is not cached

html_theme = "pydata_sphinx_theme"
html_title = "relvec"
html_static_path = ["_static"]
html_css_files = ["relvec.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
