// Runs in Streamlit's page before its own scripts. PAGES stands for the names of ours, with | between them.

// Where the server is: the address less the name of a page, so that it also holds behind a proxy that adds a folder.
// Left alone, Streamlit tries below the page's own address first: two requests that answer 404.
window.__streamlit = {
  BACKEND_BASE_URL: location.origin + location.pathname.replace(/(^|\/)(PAGES)\/?$/, "$1"),
};

// A page that opens completes its address with the view that it shows, and Streamlit makes an entry of the history of
// each change. Back would lead to the address before it was completed, which is completed again. So until something is
// done on a page, a change of its address takes the place of its entry.
(() => {
  const push = history.pushState.bind(history);
  let untouched = true,
    leaving = false;
  const touched = () => {
    untouched = leaving = false;
  };
  for (const act of ["pointerdown", "keydown"]) addEventListener(act, touched, true);
  // A page that opens fast is told of before its path: then the address would name it under the page that is left.
  const followed = event => {
    const link = event.target.closest?.("a[href]");
    leaving = Boolean(link) && link.target !== "_blank" && new URL(link.href).pathname !== location.pathname;
  };
  addEventListener("click", followed, true);
  history.pushState = (state, title, url) => {
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (samePage && leaving) return; // what follows has the path and all of this
    if (samePage && untouched) return history.replaceState(state, title, url);
    if (!samePage) [untouched, leaving] = [true, false];
    push(state, title, url);
  };
})();
