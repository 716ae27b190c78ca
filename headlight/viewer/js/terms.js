// The meaning of a term beside it, while the pointer or the keyboard is on it or after a tap. Terms are links whose title
// is the meaning (headlight/glossary.py).

const TERM = 'a[href^="#term-"]';

class Terms {
  constructor(root) {
    this.tip = root.querySelector(".meaning");
    const heard = {
      pointerover: event => this.point(event),
      focusin: event => this.focus(event),
      focusout: () => this.hide(),
      click: event => this.click(event),
      pointerdown: event => !termOf(event) && !this.within(event) && this.hide(),
      keydown: event => event.key === "Escape" && this.hide() && event.stopPropagation(),
      scroll: () => this.place(),
    };
    const ending = new AbortController();
    for (const [name, act] of Object.entries(heard)) {
      document.addEventListener(name, act, { capture: true, signal: ending.signal });
    }
    this.stop = () => {
      this.hide();
      ending.abort();
    };
  }

  within(event) {
    return event.composedPath().includes(this.tip);
  }

  // The pointer may go over to the meaning, as to read it enlarged.
  point(event) {
    const term = event.pointerType === "touch" ? null : termOf(event);
    clearTimeout(this.leaving);
    if (term) this.show(term);
    else if (this.term && !this.within(event) && !this.term.matches(":focus-visible")) {
      this.leaving = setTimeout(() => this.hide(), 150);
    }
  }

  focus(event) {
    const term = termOf(event);
    if (term?.matches(":focus-visible")) this.show(term);
  }

  // There is nothing at its address.
  click(event) {
    const term = termOf(event);
    if (!term) return;
    event.preventDefault();
    this.show(term);
  }

  show(term) {
    clearTimeout(this.leaving);
    // The browser would show a title too, later and by hover alone.
    if (term.title) {
      term.setAttribute("aria-description", term.title);
      term.removeAttribute("title");
    }
    this.term = term;
    this.tip.textContent = term.getAttribute("aria-description");
    this.tip.hidden = false;
    this.tip.showPopover?.();
    this.place();
  }

  /** Whether there was anything to hide. */
  hide() {
    clearTimeout(this.leaving);
    if (!this.term) return false;
    this.term = null;
    this.tip.hidePopover?.();
    this.tip.hidden = true;
    return true;
  }

  // Below the term, or above it where the window ends.
  place() {
    if (!this.term) return;
    if (!this.term.isConnected) return this.hide();
    const zoom = zoomOf(this.tip),
      at = boxOf(this.term),
      { width, height } = boxOf(this.tip);
    const below = at.bottom + 6 + height <= innerHeight / zoom;
    this.tip.style.left = `${clamp(at.left, 8, Math.max(8, innerWidth / zoom - width - 8))}px`;
    this.tip.style.top = `${below ? at.bottom + 6 : at.top - 6 - height}px`;
  }
}

const termOf = event => event.composedPath()[0].closest?.(TERM) ?? null;

function mountTerms({ parentElement }) {
  const root = parentElement.querySelector(".terms");
  root.view ??= new Terms(root);
  return () => {
    root.view?.stop();
    delete root.view;
  };
}
