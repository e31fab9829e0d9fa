// Answers requests as the page's worker does, above the served engine or WebAssembly: JSON in, JSON out.
//
// {local, browser, address, engine, models: {name: {folder, text}}, requests: [[route, request]]} -> [{answer, warning?} or
// {error}]. `address`: of the page, which knows the rest.

import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const given = JSON.parse(readFileSync(0, "utf8"));
const { Answers } = await import(pathToFileURL(`${given.local}/answers.js`));
const { TextIndex } = await import(pathToFileURL(`${given.local}/text_index.js`));
const { servedEngine, servedIndex } = await import(pathToFileURL(`${given.local}/served.js`));
const { load } = await import(pathToFileURL(`${given.browser}/elmo.js`));

const page = await (await fetch(given.address)).text();
const kept = JSON.parse(/id="frozen">(.*?)<\/script>/s.exec(page)[1]);
const facts = Object.fromEntries(kept.answers.info.models.map((one) => [one.name, one]));
const models = Object.fromEntries(Object.entries(given.models).map(([name, { folder, text }]) => {
  const base = `${given.address}/${encodeURIComponent(name)}/`, isServed = given.engine === "served";
  let engine, index;
  const model = {
    tokensInSource: kept.engine[name].tokens_in_source,
    engine: () => engine ??= isServed ? Promise.resolve(servedEngine(base, facts[name], kept.engine[name].config)) : load(folder),
    vocabulary: async () => (existsSync(`${folder}/vocab.txt`) ? readFileSync(`${folder}/vocab.txt`, "utf8").trimEnd().split("\n") : []),
    index: () => index ??= model.engine().then(async (loaded) => {
      const made = new TextIndex(readFileSync(text, "utf8"), facts[name].layers, facts[name].dim, (sentences) => loaded.embed(sentences));
      if (isServed && !made.restore(await servedIndex(base, made))) throw new Error("the index of the server is of another text");
      return made;
    }),
    complete: (of) => of.fill(),
  };
  return [name, model];
}));
const answers = new Answers(kept.answers.info, [], models);

const found = [];
for (const [route, request] of given.requests) {
  found.push(await answers.answer(route, request).catch((error) => ({ error: error.message, stack: error.constructor.name === "Refused" ? undefined : error.stack })));
}
console.log(JSON.stringify(found));
