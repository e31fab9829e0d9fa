// For tests/test_linear_time.py: `made PATHS` imports modules and prints the expressions that they construct, since a
// program can't see literals; `slow FILE` tries expressions with texts and prints those that take superlinear time.
import { readFileSync } from "node:fs";

const [, , task, given] = process.argv;

async function made(paths) {
  const found = [], plain = RegExp;
  function construct(target, [source, flags = ""]) {
    found.push([source, flags]);
    return new target(source, flags);
  }
  globalThis.RegExp = new Proxy(plain, { construct });
  for (const path of paths) await import(path);
  return found;
}

// In milliseconds of the processor; an expression is compiled when it is first used.
function cost(expression, text) {
  const begun = process.cpuUsage();
  for (const _ of text.matchAll(expression));
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

function isSlow(expression, [head, pump, end], sizes, most) {
  let before = 0, last = 0;
  for (const size of sizes) {
    const text = head + pump.repeat(Math.floor(size / pump.length)) + end;
    const isTooMuch = (took) => took > 100 && last && took > most * size / last * before;
    let took = cost(expression, text);
    if (isTooMuch(took) && isTooMuch(took = cost(expression, text))) return true;
    before = Math.max(took, 0.01), last = size;
  }
}

function slow([sizes, most, expressions]) {
  return expressions.flatMap(([source, flags, texts]) => {
    const expression = new RegExp(source, flags.includes("g") ? flags : flags + "g");
    const bad = texts.find((text) => isSlow(expression, text, sizes, most));
    return bad ? [[source, bad]] : [];
  });
}

const result = task === "made" ? await made(JSON.parse(given)) : slow(JSON.parse(readFileSync(given, "utf8")));
console.log(JSON.stringify(result));
