// Where answers come from: those kept in the page first, then the worker of a page that has one, then the server.

import { Local } from "./local.js";

export class Engine {
  constructor(kept, onProgress) {
    this.answers = new Map(Object.entries(kept?.answers ?? {}));
    this.isComplete = kept?.is_complete ?? false;
    this.local = kept?.engine ? new Local(kept, onProgress) : null;
  }

  static key(route, request) {
    return request === null ? route : `${route} ${JSON.stringify(request)}`;
  }

  has(route, request) {
    return this.answers.has(Engine.key(route, request));
  }

  async ask(route, request = null) {
    const key = Engine.key(route, request);
    if (!this.answers.has(key)) {
      if (this.isComplete) throw new Error("not kept");
      const waiting = this.local ? this.local.ask(route, request) : fetched(route, request);
      this.answers.set(key, waiting);
      // What was found in a part of the text is asked for again when more is read.
      waiting.then((answer) => (answer.partial ? this.answers.delete(key) : this.answers.set(key, answer)), () => this.answers.delete(key));
    }
    return this.answers.get(key);
  }
}

async function fetched(route, request) {
  const options = request === null ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  };
  let response;
  try {
    response = await fetch(`/explorer/api/${route}`, options);
  } catch {
    throw new Error("elmo explore does not answer: it was stopped, or this machine sleeps. Start it again and reload.");
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Error(answer?.error?.message ?? `The server answered with status ${response.status}.`);
  const told = response.headers.get("Warning");
  if (told) answer.warning = unquoted(told.slice(told.indexOf('"') + 1, -1));
  return answer;
}

// The header's quoted string, in which other characters than ASCII's are written as Python does.
const unquoted = (text) =>
  text.replace(/\\(.)/g, "$1").replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))/g, (_, ...codes) => String.fromCodePoint(parseInt(codes.find(Boolean), 16)));

// The requests of the views. The order of the fields is that of the server's kept answers.
export const requests = {
  neighbors: (state, one) => ({
    model: state.model, selected: selected(one), count: 6, weights: state.layer === "mix" ? state.weights : null, noun: nounIn(state, one),
  }),
  occurrences: (state, pair) => ({
    model: state.model, selected: pair.map(selected), weights: state.layer === "mix" ? state.weights : null, limit: 300,
  }),
  similarity: (state, a, b) => ({
    model: state.model, a: a.tokens, b: b.tokens, weights: state.layer === "mix" ? state.weights : null,
  }),
  computation: (state, one) => ({ model: state.model, selected: selected(one) }),
  substitutes: (state, one) => ({ model: state.model, selected: selected(one), count: 10 }),
};

// Of a token that does not begin with it, the noun says nothing.
const nounIn = ({ noun }, { tokens, place }) => (noun && tokens[place].startsWith(noun) ? noun : null);
const selected = ({ tokens, place }) => ({ tokens, place });
