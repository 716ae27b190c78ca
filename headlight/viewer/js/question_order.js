// Put in order: by drag, or with the two buttons of each.

function askOrder(element, posed, onGuess, guess) {
  const order = guess ? guess.slice() : posed.items.map((_, i) => i);
  const list = el("ol", { class: "order" });
  const move = (from, to) => {
    if (to < 0 || to >= order.length || from === to) return;
    order.splice(to, 0, ...order.splice(from, 1));
    show();
  };
  const show = () => {
    list.replaceChildren(
      ...order.map((item, at) => {
        const text = posed.items[item];
        const button = (label, sign, by) => {
          const node = el("button", { type: "button", "aria-label": label }, sign);
          node.disabled = at + by < 0 || at + by >= order.length;
          node.onclick = () => {
            move(at, at + by);
            const again = list.children[at + by].querySelectorAll("button")[by < 0 ? 0 : 1];
            (again.disabled ? list.children[at + by].querySelector("button:enabled") : again).focus();
          };
          return node;
        };
        const row = el(
          "li",
          {},
          el("span", { class: "grip", "aria-hidden": "true" }, "\u2261"),
          el("span", { class: "what" }, ...spans(text)),
          button(gettext("Move \u201c{item}\u201d up", { item: text }), "\u2191", -1),
          button(gettext("Move \u201c{item}\u201d down", { item: text }), "\u2193", 1),
        );
        row.onpointerdown = event => {
          if (event.target.closest("button")) return;
          event.preventDefault();
          held = item;
          list.setPointerCapture(event.pointerId);
          row.classList.add("held");
        };
        if (item === held) row.classList.add("held");
        return row;
      }),
    );
    onGuess(order.slice());
  };
  let held = null;
  list.onpointermove = event => {
    if (held === null) return;
    const box = list.getBoundingClientRect();
    move(
      order.indexOf(held),
      clamp(Math.floor(((event.clientY - box.top) / box.height) * order.length), 0, order.length - 1),
    );
  };
  list.onpointerup = list.onpointercancel = () => {
    held = null;
    show();
  };
  element.replaceChildren(
    el("div", { class: "muted how" }, gettext("Drag, or use the arrows. As it stands, it is your guess.")),
    list,
    ...seen(element, posed, null),
  );
  show();
}

function tellOrder(element, posed, truth, guess, tally) {
  const list = el("ol", { class: "order told" });
  truth.answer.forEach((item, at) => {
    const row = el("li", { class: "its" }, el("span", { class: "what" }, ...spans(posed.items[item])));
    if (guess) {
      const mine = guess.indexOf(item);
      row.append(
        el(
          "small",
          { class: mine === at ? "" : "apart" },
          mine === at ? gettext("as you said") : gettext("you: {rank}", { rank: ordinal(mine + 1) }),
        ),
      );
    }
    if (tally?.orders) {
      const here = tally.orders.filter(order => order[at] === item).length;
      row.append(el("small", {}, gettext("{number} of the class here", { number: here })));
    }
    list.append(row);
  });
  element.replaceChildren(list, ...seen(element, posed, null));
}
