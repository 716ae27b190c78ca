"""How `make docs` builds the site: Sphinx reads the Markdown of this folder, the parser of `headlight`, and docstrings.

The documents stay plain Markdown that a repository's pages show as well; what the site adds to them stands here.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

project = "Headlight"
html_title = "Headlight"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_argparse_cli"]
exclude_patterns = ["_build", "paper"]
templates_path: list[str] = []
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("live.js", {"defer": "defer"})]
html_favicon = "../ui/assets/icon.svg"
html_copy_source = html_show_copyright = html_show_sphinx = html_show_sourcelink = False
highlight_language = "text"  # of a block that names no other
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
html_theme_options = {
    f"{theme}_css_variables": {
        "color-brand-primary": accent,
        "color-brand-content": accent,
        "color-api-name": accent,
        "color-api-pre-name": accent,
        "color-background-primary": background,
        "color-background-secondary": secondary,
    }
    for theme, accent, background, secondary in (
        ("light", "#2f5fa8", "#ffffff", "#f6f7f9"),
        ("dark", "#f0a94a", "#0e1117", "#151a23"),
    )
}

myst_heading_anchors = 3  # as a repository's pages have them, so that links to headings hold in both
myst_enable_extensions = ["dollarmath"]

default_role = "py:obj"  # docstrings name things `so`: a link where the thing is documented, code where it is not
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 90

# Documents outside of this folder that have a page here.
ELSEWHERE = {"../benchmarks/README.md": "benchmarks.md"}

LIVE_FOLDER = "live"  # of the site: the page that `headlight publish` writes, which its live figures open
_LIVE = re.compile(r"<!-- live: (.+) -->")


def lead_inside(app: Sphinx, name: str, text: list[str]) -> None:
    """Links to such a document lead to its page."""
    for path, page in ELSEWHERE.items():
        text[0] = text[0].replace(f"]({path}", f"]({page}")


class Themes(SphinxTransform):
    """Pictures follow the theme: NAME-light.png brings NAME-dark.png with it, an SVG has the colour of the text."""

    default_priority = 400  # before Sphinx collects the pictures

    def apply(self, **kwargs: Any) -> None:
        for image in list(self.document.findall(nodes.image)):
            path = (HERE / self.env.docname).parent / image["uri"]
            if path.suffix == ".svg":
                drawing = re.sub(r"<\?xml.*?\?>", "", path.read_text("utf-8"))
                image.replace_self(nodes.raw("", drawing, format="html"))
            elif path.stem.endswith("-light"):
                dark = image.deepcopy()
                dark["uri"] = image["uri"].replace("-light", "-dark")
                image["classes"] += ["only-light"]
                dark["classes"] += ["only-dark"]
                image.parent.insert(image.parent.index(image) + 1, dark)


class LiveFigures(SphinxTransform):
    """A comment such as `<!-- live: page=decoding -->` becomes a figure in which the published page opens that view.

    The picture that stands right above the comment is in the figure until the view is drawn, and stays if it never is:
    _static/live.js adds the frame.
    """

    default_priority = 410  # after the pictures have their dark companions

    def apply(self, **kwargs: Any) -> None:
        for comment in list(self.document.findall(nodes.raw)):
            view = _LIVE.fullmatch(comment.astext().strip())
            if view is None:
                continue
            page = "../" * self.env.docname.count("/") + f"{LIVE_FOLDER}/index.html#embed=sentence&{view[1]}"
            opening = nodes.raw("", f'<figure class="live" data-page="{escape(page)}">', format="html")
            position = comment.parent.index(comment)
            above = comment.parent[position - 1]
            has_still = isinstance(above, nodes.paragraph) and all(isinstance(child, nodes.image) for child in above)
            comment.parent.insert(position - has_still, opening)
            comment.replace_self(nodes.raw("", "<figcaption></figcaption></figure>", format="html"))
            self.env.metadata[self.env.docname]["hide-toc"] = ""  # the figure takes its place


def publish_live(app: Sphinx, exception: Exception | None) -> None:
    """Write the page that the live figures open, with its models: once, whatever the number of figures."""
    if exception is None and app.builder.format == "html":
        from headlight.web.publish import write_folder

        write_folder("en-fr", Path(app.outdir) / LIVE_FOLDER)


def require_tutorials(app: Sphinx) -> None:
    """Stop the build where a tutorial's table names what is not there, or its page is not what the table says."""
    from tools.tutorial_tables import require_current

    try:
        require_current()
    except ValueError as error:
        raise ExtensionError(str(error)) from None


def as_written(app: Sphinx, what: str, name: str, documented: object, options: object, lines: list[str]) -> None:
    """A docstring's paragraph with indented lines is code or a table, and stays as it stands; | is no markup there."""
    paragraphs = []
    for paragraph in "\n".join(lines).split("\n\n"):
        indented = any(line.startswith(" ") for line in paragraph.splitlines())
        if indented and not paragraph.startswith("- "):
            paragraphs.append("::\n\n" + indent(dedent(paragraph), "  "))
        else:
            paragraphs.append(re.sub(r"(`[^`]*`)|\|", lambda match: match[1] or r"\|", paragraph))
    lines[:] = "\n\n".join(paragraphs).splitlines()


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", require_tutorials)
    app.connect("source-read", lead_inside)
    app.connect("autodoc-process-docstring", as_written)
    app.connect("build-finished", publish_live)
    app.add_transform(Themes)
    app.add_transform(LiveFigures)
