// Names that the scripts' types speak of, and what other code puts on the page.

/** The colours of transformer/charts/colours.py, which stand before core.js. */
declare const PALETTE: Record<
  "light" | "dark",
  Record<"background" | "text" | "muted" | "line" | "field" | "hatch" | "card" | "accent", string> &
    Record<"sequential" | "diverging" | "signed" | "heads", string[]>
>;

/** What the page's colours are: see themeOf in core.js. */
type Theme = ReturnType<typeof themeOf>;

/** Tells the page of something that the reader did: the event's name, and what it carries. */
type Emit = (name: string, value: unknown) => void;

interface Document {
  /** What the components of one page show each other (shared.js). */
  headlight: EventTarget & { values: Record<string, any> };
}

interface Window {
  Plotly: any;
}
