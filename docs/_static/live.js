// Live figures: each `figure.live` has the address of a view of the published page, which is opened in a frame.
//
// What stands in the figure meanwhile is hidden once the view is drawn; without a script, a network or a server it stays.
// The frame is of this site: its height is read from it, and the theme put into its address.

const LIVE = "Live: this runs in your browser, and nothing is sent anywhere.",
  systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const chosen = document.body.dataset.theme; // light, dark or auto
  if (chosen === "light" || chosen === "dark") return chosen;
  return systemIsDark.matches ? "dark" : "light";
}

function themed(address) {
  const url = new URL(address, location.href),
    view = new URLSearchParams(url.hash.slice(1));
  view.set("theme", theme());
  url.hash = view.toString();
  return url.href;
}

function open(figure) {
  const caption = figure.querySelector("figcaption"),
    frame = document.createElement("iframe");
  frame.loading = "lazy";
  frame.title = `${document.title}, live`;
  frame.allow = "fullscreen";
  frame.src = themed(figure.dataset.page);
  frame.onload = () => {
    const page = frame.contentDocument;
    if (!page) return; // a file, which may not look into another
    const follow = () => {
      const isDrawn = page.querySelector("main > *") !== null;
      caption.textContent = isDrawn ? LIVE : (page.querySelector(".says")?.textContent ?? "");
      figure.classList.toggle("drawn", isDrawn);
      frame.style.height = `${page.body.offsetHeight}px`;
    };
    follow();
    new ResizeObserver(follow).observe(page.body);
    new MutationObserver(follow).observe(page.querySelector(".written"), { childList: true }); // where it says what is wrong
  };
  figure.prepend(frame);
  const light = () => {
    const address = frame.contentWindow.location;
    if (frame.contentDocument) address.replace(themed(address.href));
  };
  new MutationObserver(light).observe(document.body, { attributeFilter: ["data-theme"] });
  systemIsDark.addEventListener("change", light);
}

document.querySelectorAll(".live").forEach(open);
