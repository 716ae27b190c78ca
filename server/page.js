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
  let untouched = true;
  for (const act of ["pointerdown", "keydown"]) addEventListener(act, () => (untouched = false), true);
  history.pushState = (state, title, url) => {
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (samePage && untouched) return history.replaceState(state, title, url);
    untouched = untouched || !samePage;
    push(state, title, url);
  };
})();
