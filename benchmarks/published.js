// In the worker of a published page: what its engine computes of a sentence, and how long it takes to write it.

({
  // The tokens, both searches, and the logits and patterns of the pass over what was written greedily.
  computed(text) {
    const { network, source, target } = model,
      { config } = network,
      ids = [...source.encode(text), config.eos_id],
      [greedy] = finish(decode(network, ids, { size: 1 })),
      beam = finish(decode(network, ids, { size: 5 })).slice(0, 5),
      written = [config.sos_id, ...greedy.ids.slice(0, -1)],
      recorder = new Recorder(config, ids.length, written.length),
      logits = network.write(written, network.read(ids, recorder.tap), recorder.tap);
    const numbers = Object.fromEntries(
      Object.entries({ logits, ...recorder.kinds }).map(([name, array]) => {
        const { buffer } = array.data ?? array;
        return [name, new Uint8Array(buffer).toBase64()];
      }),
    );
    return { ids, greedy: greedy.ids, text: target.decode(greedy.ids), beam: beam.map(({ ids }) => ids), numbers };
  },

  // Milliseconds from the text to the last token, with the page's pauses between two tokens.
  async milliseconds({ text, size }) {
    const start = performance.now(),
      { network, source } = model,
      steps = [];
    for (const { written, candidates } of decode(network, [...source.encode(text), network.config.eos_id], { size })) {
      steps.push({ written, candidates });
      await pause();
    }
    finish(steps);
    return performance.now() - start;
  },
})
