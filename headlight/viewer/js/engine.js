// A model of the page, which a worker computes (headlight/web/js/worker.js), and those who ask it: the page itself, or each
// figure of a gallery. The worker takes one request at a time, and gives it up for a newer one.
//
// Beside this script stands ENGINE, the worker's script. Whoever asks has `answered`, which takes the answer, and `say`.

const DAMAGED = gettext("The model in this file is damaged; get the file again.");
const NO_WORKER = gettext(
  "This browser lets the page start no worker, which computes the model. Open it in a current Firefox, Chrome, Edge or Safari.",
);
const NOT_FETCHED = gettext("The model could not be loaded; check your connection, and load the page again."),
  NOT_SERVED = gettext(
    "A browser lets no page read the files beside it from a disk: put the folder on a web server, or publish with --single.",
  );

class NotFetched extends Error {}

const wholePage =
  document.readyState === "loading"
    ? new Promise(done => document.addEventListener("DOMContentLoaded", done, { once: true }))
    : null;

async function fetched(file) {
  if (location.protocol === "file:") throw new NotFetched(NOT_SERVED);
  const response = await fetch(file).catch(() => null);
  if (!response?.ok) throw new NotFetched(NOT_FETCHED);
  return new Uint8Array(await response.arrayBuffer());
}

class Engine {
  models = {}; // promises that each block's model was given to the worker
  waiting = []; // requests { asker, message } of those who do not have their turn
  running = null;
  asked = 0;

  // `block` is the id of the data block with the model.
  constructor(block) {
    this.block = block;
    this.facts = new Promise((resolve, reject) => {
      const fail = text => reject(new Error(text)),
        lacks = ["Worker", "DecompressionStream", "Blob"].find(name => !(name in window));
      if (lacks) {
        fail(
          gettext(
            "This browser has no {feature}, which the page needs. Open it in a current Firefox, Chrome, Edge or Safari.",
            { feature: lacks },
          ),
        );
        return;
      }
      try {
        this.worker = new Worker(URL.createObjectURL(new Blob([ENGINE], { type: "text/javascript" })));
      } catch {
        fail(NO_WORKER);
        return;
      }
      this.worker.onerror = () => {
        fail(DAMAGED);
        this.running?.asker.say(DAMAGED);
      };
      this.worker.onmessage = ({ data }) => {
        if (data.opened) resolve(data.opened);
        else if (data.id) this.answered(data);
        else fail(DAMAGED); // of the page's own model, unless that is open
      };
      this.open(block).catch(error => fail(error instanceof NotFetched ? error.message : DAMAGED));
    });
  }

  // Gives the worker the model of a block, if there is one, in the page or in a file beside it; once.
  open(id) {
    return (this.models[id] ??= this.read(id));
  }

  // The first block stands before this script, the others behind it.
  async read(id) {
    if (id !== this.block) await wholePage;
    const block = document.getElementById(id);
    if (!block) return;
    const { file } = block.dataset,
      packed = file ? await fetched(file) : fromBase64(block.textContent);
    block.remove(); // megabytes of text
    this.worker.postMessage({ model: packed.buffer }, [packed.buffer]);
  }

  // Returns the id of the answer. What the same asker asked before is not answered any more.
  ask(asker, message) {
    const request = { asker, message: { ...message, id: ++this.asked } };
    this.waiting = this.waiting.filter(other => other.asker !== asker);
    if (!this.running || this.running.asker === asker) this.run(request);
    else this.waiting.push(request);
    return this.asked;
  }

  run(request) {
    this.running = request;
    this.worker.postMessage(request.message);
  }

  answered(answer) {
    const { asker, message } = this.running;
    if (answer.id !== message.id) return;
    this.running = null;
    if (this.waiting.length) this.run(this.waiting.shift());
    asker.answered(answer);
  }
}
