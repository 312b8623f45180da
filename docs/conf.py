"""The documentation site: `make docs` builds it into build/site.

The source folder is the root of the project, so that links between pages are the same on the site, on a code host and
in an editor. `_ext/reference.py` writes the reference pages from the code before the build.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

project = "Odonata"
author = "the authors of Odonata"
project_copyright = author
release = version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "reference",
]

include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**",
    "validation/*.md",
]
include_patterns += ["python/odonata/reproduce/*/README.md"]  # data that validation pages cite
exclude_patterns = ["docs/_ext/**", "docs/_generated/**/examples/**"]
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
# Pages link to source files and folders of the project, which a code host shows.
myst_all_links_external = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"Odonata {release}"
html_static_path = []
html_extra_path = ["_site"]
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
