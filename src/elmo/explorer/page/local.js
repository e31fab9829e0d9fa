// The page's worker: it is in the page as text, and so are its files if there are no others.

export class Local {
  // `kept`: what the page holds. `onProgress({model, part, done} or {model, problem})`: while it loads and indexes.
  constructor({ answers, engine, served }, onProgress) {
    const source = document.getElementById("worker").textContent;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.waiting = new Map();
    this.asked = 0;
    this.worker.onmessage = ({ data }) => (data.progress ? onProgress(data.progress) : this.arrived(data));
    this.worker.onerror = (event) => onProgress({ model: null, problem: event.message ?? "the worker of this page can't be started." });
    this.worker.postMessage({ start: { info: answers.info, mixes: answers.mixes, models: engine, base: new URL(served ?? ".", document.baseURI).href, isServed: served !== null, files: filesInside() } });
  }

  // Loads a model before it is asked.
  open(model) {
    this.worker.postMessage({ open: model });
  }

  ask(route, request) {
    return new Promise((resolve, reject) => {
      const id = ++this.asked;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, route, request });
    });
  }

  arrived({ id, answer, warning, error }) {
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) return reject(new Error(error.message));
    if (warning) answer.warning = warning;
    resolve(answer);
  }
}

// The files of a page in one file, by name; null: they lie beside the page. Their elements are no longer needed.
function filesInside() {
  const blocks = [...document.querySelectorAll('script[id^="file "]')];
  const files = blocks.map((block) => [block.id.slice("file ".length), block.textContent]);
  blocks.forEach((block) => block.remove());
  return blocks.length ? Object.fromEntries(files) : null;
}

// This page as a file that holds answers alone.
export function pageOfAnswers(answers) {
  const page = document.documentElement.cloneNode(true);
  page.querySelectorAll("#worker").forEach((one) => one.remove());
  page.querySelector("#app").replaceChildren();
  page.querySelector("#frozen").textContent = answers;
  return `<!doctype html>\n${page.outerHTML}`;
}
