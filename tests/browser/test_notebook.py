"""The viewer in a notebook: executed, converted, opened without a network; as a widget; and as both at once."""

import base64
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Page, expect

import headlight
from headlight.notebook import View
from headlight.notebook.saved import saved_html, widget_module
from tests.browser.viewer.looking import DARK, LIGHT, MAP, cell, near, pixel, ramp, thumb_pixel, tooltip
from tests.small import small_translator
from transformer import Trace

ROOT = Path(__file__).resolve().parents[2]
TEXT, TARGET = "two dogs are running .", "a little girl"
SETUP = f"""
import headlight
from tests.small import small_translator
trace = small_translator().trace({TEXT!r}, target={TARGET!r})
"""

# anywidget's model, as far as our script knows it. What it sends goes to Python, whose answer comes back as a message.
MODEL = """
class Model {
  constructor(state) { Object.assign(this, { state, heard: [], saved: [] }); }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; }
  save_changes() { this.saved.push([...this.state.selected, this.state.words]); }
  on(event, act) { this.heard.push([event, act]); }
  off(event, act) { this.heard = this.heard.filter(one => one[0] !== event || one[1] !== act); }
  tell(event, ...given) { for (const [name, act] of this.heard) if (name === event) act(...given); }
  become(name, value) { this.state[name] = value; this.tell(`change:${name}`); }
  async send(content) {
    const [name, text] = await kernel(content);
    const bytes = new DataView(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);
    if (name === "message") this.tell("msg:custom", {}, [bytes]);
    else this.become(name, bytes);
  }
}
const empty = () => new DataView(new ArrayBuffer(0));
window.widget = async (state, source) => {
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  window.model = new Model({ ...state, _payload: empty() });
  const el = document.body.appendChild(document.createElement("div"));
  el.id = "output";
  window.leave = await module.default.render({ model, el });
};
"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    return small_translator().trace(TEXT, target=TARGET)


@pytest.fixture
def page(fresh_page: Page) -> Page:
    fresh_page.context.set_offline(True)
    return fresh_page


@pytest.fixture
def notebook(page: Page) -> Callable[[View], None]:
    """An empty page in which `widget(...)` renders this view, whose Python answers."""

    def opened(view: View) -> None:
        def kernel(content: dict[str, object]) -> list[str]:
            with patch.object(View, "send") as send:
                view._handle_custom_msg(content, [])
            name, message = ("message", send.call_args.args[1][0]) if send.called else ("_payload", view._payload)
            return [name, base64.b64encode(message).decode()]

        page.expose_function("kernel", kernel)
        page.add_script_tag(content=MODEL)

    return opened


def render(page: Page, view: View) -> None:
    state = {name: view.get_state()[name] for name in ("selected", "words", "_cell_id")}
    page.evaluate("given => widget(...given)", [state, widget_module()])


def add_saved(page: Page, view: View) -> None:
    """Insert saved HTML as a notebook does: its scripts are created anew, so that they run."""
    html = saved_html(view._cell_id, view._packed(), view.trace, view.selected)
    page.evaluate(
        """html => {
          const output = document.body.appendChild(document.createElement("div"));
          output.innerHTML = html;
          const old = output.querySelector("script"), script = document.createElement("script");
          script.textContent = old.textContent;
          old.replaceWith(script);
        }""",
        html,
    )


def test_an_executed_notebook_shows_every_head_without_a_kernel_or_a_network(
    page: Page, trace: Trace, tmp_path: Path
) -> None:
    cells = [SETUP + "headlight.show(trace, selected=('encoder', 0, 1))", "headlight.show(trace, theme='dark')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    assert "application/vnd.jupyter.widget-state+json" in notebook.metadata.widgets  # nbclient keeps it, JupyterLab not
    path = tmp_path / "notebook.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    page.goto(path.as_uri(), wait_until="commit")
    first, second = (page.locator("[data-headlight-saved]").nth(n) for n in range(2))
    expect(second.locator(".thumb[aria-selected=true]")).to_have_count(1)
    second.evaluate("host => host.remove()")  # what follows looks at the only viewer of the page
    for kind in trace.kinds:
        first.get_by_role("button", name=kind.capitalize(), exact=True).click()
        for layer, head in np.ndindex(trace.pattern(kind).shape[:2]):
            weights = trace.pattern(kind)[layer, head]
            row, column = divmod(int(weights.argmax()), weights.shape[1])
            colour = thumb_pixel(page, layer, head, weights.shape, (row, column))
            assert near(colour, ramp(float(weights.max()), LIGHT)), (kind, layer, head)
    page.locator('.thumb[aria-label^="Layer 3, head 2,"]').click()
    expect(page.get_by_role("heading", name="Layer 3, head 2", exact=True)).to_be_visible()
    page.locator(MAP).hover(position=cell(page, 1, 2))
    assert f"{trace.cross[2, 1, 1, 2]:.3f}" in tooltip(page)
    expect(page.get_by_text("rounded to 1/10000")).to_be_visible()


def test_selection_goes_both_ways(page: Page, notebook: Callable[[View], None], trace: Trace) -> None:
    view = headlight.show(trace, selected=("cross", 1, 0))
    notebook(view)
    render(page, view)
    expect(page.get_by_role("heading", name="Layer 2, head 1", exact=True)).to_be_visible()
    page.locator('.thumb[aria-label^="Layer 3, head 2,"]').click()
    assert page.evaluate("model.saved") == [["cross", 2, 1, False]]
    page.get_by_role("button", name="Encoder").click()  # which has two layers
    assert page.evaluate("model.saved[1]") == ["encoder", 1, 1, False]
    page.evaluate("model.become('selected', ['decoder', 0, 1])")
    expect(page.get_by_role("heading", name="Layer 1, head 2", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Decoder")).to_have_attribute("aria-pressed", "true")
    page.evaluate("leave()")
    expect(page.locator("#output")).to_be_empty()
    assert page.evaluate("model.heard") == []


def test_the_kernel_has_the_exact_weights_and_the_layers_of_a_large_trace(
    page: Page, notebook: Callable[[View], None]
) -> None:
    weights = np.tile(np.array([[0.999877, 0.000123], [0.4, 0.6]], np.float32), (2, 1, 1, 1))
    with patch("headlight.notebook.payload.MAX_SENT_WEIGHTS", 1):
        view = headlight.show(encoder=weights, source_tokens=["a", "b"], selected=("encoder", 0, 0))
        notebook(view)
        add_saved(page, view)
        page.locator(MAP).hover(position=cell(page, 0, 1))
        assert "0.00010" in tooltip(page)  # as it was saved
        page.get_by_role("gridcell", name="Layer 2").click()
        expect(page.get_by_text("come from the notebook's kernel")).to_be_visible()
        render(page, view)
        expect(page.locator("#output")).to_be_empty()  # it joins what is drawn
        page.get_by_role("gridcell", name="Layer 2").click()
        page.locator(MAP).hover(position=cell(page, 0, 1))
    assert "0.00012" in tooltip(page)
    expect(page.get_by_text("rounded to")).to_be_hidden()


def test_a_cell_that_is_taken_out_of_its_page_listens_no_more(page: Page, trace: Trace) -> None:
    """A notebook takes out a cell that is far away, and one that is run again for ever."""
    add_saved(page, headlight.show(trace))
    page.locator(".thumb[aria-selected=true]").wait_for()
    page.evaluate("window.host = document.querySelector('[data-headlight-saved]')")
    page.evaluate("host.headlight.then(cell => { window.drawn = cell; host.remove(); })")
    page.wait_for_function("drawn.views.mounts.size === 0")
    page.evaluate("document.body.append(host)")
    expect(page.locator(".thumb[aria-selected=true]")).to_be_visible()


def test_one_of_two_outputs_draws_in_the_colours_of_its_page(
    page: Page, notebook: Callable[[View], None], trace: Trace
) -> None:
    view = headlight.show(trace, selected=("cross", 1, 0))
    notebook(view)
    render(page, view)
    page.locator(".thumb[aria-selected=true]").wait_for()
    add_saved(page, view)
    expect(page.locator("[data-headlight-saved]")).to_be_hidden()
    expect(page.locator(".grid")).to_have_count(1)
    place, weight = cell(page, 0, 1), float(trace.cross[1, 0, 0, 1])
    assert near(pixel(page.locator(MAP), **place), ramp(weight, LIGHT))
    page.evaluate("document.body.style.color = '#eee'")
    expect(page.locator(".cell")).to_have_attribute("data-theme", "dark")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert near(pixel(page.locator(MAP), **place), ramp(weight, DARK))
