// Names that the scripts' types speak of, and what other code puts on the page.

/** The colours of headlight/charts/colours.py, which stand before core.js. */
declare const PALETTE: Record<
  "light" | "dark",
  Record<"background" | "text" | "muted" | "line" | "field" | "hatch" | "card" | "accent", string> &
    Record<"sequential" | "diverging" | "signed" | "heads", string[]>
>;

/** The messages of the page's language (headlight/language.py), which stand before messages.js. */
declare const MESSAGES: {
  language: string;
  decimal: string;
  singular: number[];
  texts: Record<string, string | string[]>;
};

/** Where the views of one page find what they show each other (shared.js): the document, or an object of one cell. */
declare const SHARED_ON: { headlight: EventTarget & { values: Record<string, any> } };

/** The style of a notebook's cell. */
declare const CELL_STYLE: string;

/** The id of the data block that holds the model of a page of its own, and the script of its worker (web.js). */
declare const MODEL_BLOCK: string;
declare const ENGINE: string;

/** headlight/web/js/measures.js, which stands on that page too. */
declare const MEASURES: typeof import("../../web/js/measures.js").MEASURES;
declare const shareRows: typeof import("../../web/js/measures.js").shareRows;
declare const meanOf: typeof import("../../web/js/measures.js").meanOf;

/** What the page's colours are: see themeOf in core.js. */
type Theme = ReturnType<typeof themeOf>;

/** Tells the page of something that the reader did: the event's name, and what it carries. */
type Emit = (name: string, value: unknown) => void;

interface Element {
  /** The view that stands on it (core.js). */
  view?: any;
  /** The height of the figure that the view is drawn for (figure.js), or none where it is on the screen. */
  paper?: number;
  fills?: () => void;
  /** What draws a notebook's cell here, and whether a widget has joined it (cell.js). */
  headlight?: any;
  joined?: boolean;
  hidden: boolean;
  paired?: boolean;
}

interface Window {
  Plotly: any;
}
