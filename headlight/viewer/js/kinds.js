// The patterns of every kind of attention, once for all heads: a message that Streamlit sends again only where it has
// changed. The overview draws from them, and the chart until the exact weights are there.
//
// Header: id, kinds { name: an overview's header }. Arrays: "name thumbs", "name thumbs_masked".

function mountKinds(root, { header: { id, kinds }, arrays }) {
  const found = Object.entries(kinds).map(([name, header]) => {
    return [
      name,
      { header, arrays: { thumbs: arrays[`${name} thumbs`], thumbs_masked: arrays[`${name} thumbs_masked`] } },
    ];
  });
  const given = { id, kinds: Object.fromEntries(found) };
  share("kinds", given);
  return { unmount: () => shared.values.kinds === given && share("kinds", null) };
}
