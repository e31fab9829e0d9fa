// The page's worker: it loads models or asks the server for their layers, has the indexes of their texts, and answers.
//
// The page sends {start: settings} once, {open: model} for each model that it shows, and {id, route, request}; it gets
// {id, answer, warning?} or {id, error: {message}}, and {progress: {model, part, done}} for its line of progress.

import { load } from "../../browser/elmo.js";
import { readVocabulary } from "../../browser/substitutes.js";
import { Answers } from "./answers.js";
import { tensorsOf } from "./computation.js";
import { keptIndex } from "./kept_index.js";
import { answered, servedEngine, servedIndex } from "./served.js";
import { BATCH, TextIndex } from "./text_index.js";

const MOST_SILENT = 100;  // milliseconds between two reports of progress
let answers, models;

onmessage = async ({ data: { start, open, id, route, request } }) => {
  if (start) return begin(start);
  if (open) return models[open]?.warmUp();
  try {
    postMessage({ id, ...await answers.answer(route, request) });
  } catch (error) {
    postMessage({ id, error: { message: error.message } });
  }
};

// `files`: those inside the page, by name; null: they lie below `base`, where `isServed` says that a server computes.
function begin({ info, mixes, base, isServed, models: settings, files }) {
  const wasm = once(() => bytes("elmo/elmo.wasm"));
  models = Object.fromEntries(info.models.map((facts) => [facts.name, modelOf(facts)]));
  answers = new Answers(info, mixes, models);

  function modelOf(facts) {
    const { name, text, layers, dim, model_hash, has_softmax } = facts, own = new URL(`${encodeURIComponent(name)}/`, base);
    const report = reporter(name), complain = (error) => postMessage({ progress: { model: name, problem: error.message } });
    const model = {
      tokensInSource: settings[name].tokens_in_source,
      engine: once(async () => {
        if (isServed) return servedEngine(own, facts, settings[name].config);
        const paths = Object.keys(files ?? {}).filter((path) => path.startsWith(`${name}/`));
        const inside = await Promise.all(paths.map(async (path) => [path.slice(name.length + 1), await bytes(path)]));
        const sizes = {};
        let isOver = false;
        const onProgress = ({ file, loaded, total }) => {
          if (isOver) return;  // the softmax, later, or what still arrives of a model that lacks a file
          sizes[file] = [loaded, total];
          const [done, all] = Object.values(sizes).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
          report("model", all ? Math.min(done / all, 0.99) : 0);
        };
        try {
          return await load(files ? undefined : own.href, { exact: true, files: { "elmo.wasm": await wasm(), ...Object.fromEntries(inside) }, onProgress });
        } finally {
          isOver = true;
        }
      }),
      vocabulary: once(async () => (settings[name].has_vocabulary ? readVocabulary(await bytes(`${name}/vocab.txt`)) : [])),
      tensors: once(async () => tensorsOf(await bytes(`${name}/model.safetensors`))),
      index: once(async () => {
        const [content, engine] = await Promise.all([bytes(`${name}/text.txt`), model.engine()]);
        const index = new TextIndex(new TextDecoder().decode(content), layers, dim, (sentences) => engine.embed(sentences));
        if (isServed) index.restore(await servedIndex(own, index));
        return index;
      }),
      complete: once(async (index) => {
        if (isServed || index.restore(await keptIndex.get(model_hash))) return report("index", 1);
        const steps = Math.ceil(index.sentences.length / BATCH);
        let done = 0;
        // Not waited for: what is asked meanwhile is answered from the part that was read.
        index.fill(undefined, async () => { report("index", Math.min(++done / steps, 0.99)); await turn(); }).then(() => {
          report("index", 1);
          keptIndex.put(model_hash, index.record);
        }).catch(complain);
      }),
      warmUp: once(async () => {
        try {
          const [engine] = await Promise.all([model.engine(), model.vocabulary()]);
          report("model", 1);
          if (has_softmax) engine.substitutes(["."], 0, 1).catch(complain);  // loads it, before anybody asks
          if (text !== null) await model.complete(await model.index());
        } catch (error) {
          complain(error);
        }
      }),
    };
    return model;
  }

  async function bytes(path) {
    if (files) return inflated(files[path]);
    const address = new URL(path.split("/").map(encodeURIComponent).join("/"), base);
    if (isServed) return new Uint8Array(await (await answered(address)).arrayBuffer());
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) {
      throw new Error(`${path}: ${answer ? `the server answered ${answer.status}` : "can't be fetched"}. This page needs a web server that has all files of 'elmo explore --export'; one that opens from disk is written by --single-file.`);
    }
    return new Uint8Array(await answer.arrayBuffer());
  }
}

// Base64 of gzip, as a page of one file holds its files.
async function inflated(text) {
  const characters = atob(text), packed = new Uint8Array(characters.length);
  for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

// A function whose first call's promise all calls share; one that failed is tried again.
function once(make) {
  let made = null;
  return (...given) => made ??= make(...given).catch((error) => { made = null; throw error; });
}

function reporter(model) {
  let last = 0;
  return (part, done) => {
    if (done < 1 && performance.now() - last < MOST_SILENT) return;
    last = performance.now();
    postMessage({ progress: { model, part, done } });
  };
}

// Lets requests that wait be answered first.
const turn = () => new Promise((resolve) => { setTimeout(resolve, 0); });
