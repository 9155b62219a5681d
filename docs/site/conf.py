"""Sphinx's settings for the site. `docs/site/build.py` copies this file beside the pages."""

import suffice

project = "suffice"
author = "the authors of suffice"
version = release = suffice.__version__
extensions = ["myst_parser", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
smartquotes = False  # settings are copied from pages: covariance="shared"
# A dollar beside a digit or a space is money, not a formula.
myst_dmath_allow_digits = False
myst_dmath_allow_space = False
mathjax_path = "tex-svg.js"
html_theme = "furo"
html_title = f"suffice {release}"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html", "sidebar/search.html", "versions.html", "sidebar/scroll-start.html",
        "sidebar/navigation.html", "sidebar/scroll-end.html",
    ],
}  # fmt: skip
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "default", "monokai"
# Examples are doctests with prompts, and some end in a traceback.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
