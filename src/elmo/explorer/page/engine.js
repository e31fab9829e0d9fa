// Where answers come from: those kept in the page first, then its worker; a saved page has none.

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
      const waiting = this.local.ask(route, request);
      this.answers.set(key, waiting);
      // What was found in a part of the text is asked for again when more is read.
      waiting.then((answer) => (answer.partial ? this.answers.delete(key) : this.answers.set(key, answer)), () => this.answers.delete(key));
    }
    return this.answers.get(key);
  }
}

// The requests of the views. The order of the fields is that of kept answers.
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
