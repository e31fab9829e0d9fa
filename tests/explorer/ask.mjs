// Answers requests as the page's worker does, with models from disk: JSON in, JSON out.
//
// {local, browser, info, mixes, models: {name: {folder, text, tokens_in_source, record?}}, requests: [[route, request]]}
// -> [{answer, warning?} or {error}]. `record`: a file of an index by Python; without it the index is made here.

import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const given = JSON.parse(readFileSync(0, "utf8"));
const { Answers } = await import(pathToFileURL(`${given.local}/answers.js`));
const { TextIndex } = await import(pathToFileURL(`${given.local}/text_index.js`));
const { tensorsOf } = await import(pathToFileURL(`${given.local}/computation.js`));
const { load } = await import(pathToFileURL(`${given.browser}/elmo.js`));

const facts = Object.fromEntries(given.info.models.map((one) => [one.name, one]));
const models = Object.fromEntries(Object.entries(given.models).map(([name, one]) => {
  let elmo, index;
  const model = {
    tokensInSource: one.tokens_in_source,
    elmo: () => elmo ??= load(one.folder),
    tensors: async () => tensorsOf(new Uint8Array(readFileSync(`${one.folder}/model.safetensors`))),
    vocabulary: async () => (existsSync(`${one.folder}/vocab.txt`) ? readFileSync(`${one.folder}/vocab.txt`, "utf8").trimEnd().split("\n") : []),
    index: () => index ??= model.elmo().then((loaded) => new TextIndex(readFileSync(one.text, "utf8"), facts[name].layers, facts[name].dim, (sentences) => loaded.embed(sentences))),
    async complete(of) {
      if (one.record && !of.isFilled.every(Boolean)) of.restore(recordOf(one.record, of));
      await of.fill();
    },
  };
  return [name, model];
}));
const answers = new Answers(given.info, given.mixes, models);

function recordOf(path, index) {
  const { buffer } = new Uint8Array(readFileSync(path));
  let at = 0;
  const taken = (kind, count) => { const values = new kind(buffer, at, count); at += values.byteLength; return values; };
  const lengths = Array.from({ length: index.layers }, () => taken(Float32Array, index.size));
  return { text: index.lines.join("\n"), lengths, halves: Array.from({ length: index.layers }, (_, layer) => taken(Uint16Array, index.rowsIn(layer) * index.dim)) };
}

const found = [];
for (const [route, request] of given.requests) {
  found.push(await answers.answer(route, request).catch((error) => ({ error: error.message, stack: error.constructor.name === "Refused" ? undefined : error.stack })));
}
console.log(JSON.stringify(found));
