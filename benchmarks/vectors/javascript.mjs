// The node side of javascript.py: elmo.js on the sentences of a file, in CPU seconds of the process.
// node javascript.mjs ELMO_JS MODEL SENTENCES EXACT ROUNDS -> JSON: [{apart, together}], ms until the first vectors

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [script, model, file, exact, rounds] = process.argv.slice(2);
const sentences = JSON.parse(readFileSync(file, "utf8"));
const { load } = await import(pathToFileURL(script).href);
const begun = performance.now();
const elmo = await load(model, { exact: exact === "1" });
const loaded = performance.now();
elmo.embed(sentences[0]);
const first = performance.now();
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
for (let round = 0; round < 2; round += 1) elmo.embed(sentences); // until the compiler has seen all of it
await new Promise((resolve) => setTimeout(resolve, 300));
const found = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const start = cpu();
  for (const sentence of sentences) elmo.embed(sentence);
  const middle = cpu();
  elmo.embed(sentences);
  found.push({ apart: middle - start, together: cpu() - middle });
}
console.log(JSON.stringify({ load: loaded - begun, first: first - loaded, rounds: found }));
