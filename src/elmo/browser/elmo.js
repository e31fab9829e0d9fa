// ELMo in browsers and node: tokens in, vectors out, computed by elmo's own kernels in WebAssembly.

import { BOUNDARIES } from "./characters.js";
import { checkHashes, readConfig } from "./config.js";
import { ElmoError } from "./errors.js";
import { readAddress, readFile } from "./files.js";
import { Kernels } from "./kernels.js";
import { Network } from "./network.js";
import { checkTensors, readTensors } from "./safetensors.js";
import { Softmax } from "./substitutes.js";
import { tokenize } from "./tokenizer.js";

export { ElmoError };

/** Loads a model folder: see elmo.d.ts. */
export async function load(where, { onProgress, exact = true, files } = {}) {
  checkWhere(where, files);
  if (typeof exact !== "boolean") {
    throw new ElmoError(`exact is ${told(exact)}, but it says yes or no. Pass true (float32, the default) or false (int8).`);
  }
  const read = (name) => readFile(where, name, files, onProgress);
  const [config, model, wasm] = await Promise.all([read("config.json"), read("model.safetensors"), readWasm(files)]);
  // In this order, whichever came first: where there is nothing, the message is always the same.
  const architecture = readConfig(required(config, "config.json", where));
  required(model, "model.safetensors", where);
  await checkHashes(architecture, null);
  const kernels = await Kernels.compile(wasm);
  const found = readTensors(model, "model.safetensors");
  const network = new Network(kernels, architecture, found.tensors, exact);
  await checkTensors(kernels, found, "model.safetensors");
  return new Elmo(network, architecture, exact, read);
}

function checkWhere(where, files) {
  const address = where?.href ?? where; // a URL may be another window's
  if ((typeof address === "string" && address) || (where === undefined && files)) return;
  throw new ElmoError(
    `where is ${told(where)}, but a model is loaded from the URL or the path of its folder, or from \`files\`. Pass one: ` +
      'load("small-en"), or load(undefined, { files }).',
  );
}

/** A value as messages show it: "0" is no number. */
const told = (value) => (typeof value === "string" ? JSON.stringify(value) : String(value));

function required(bytes, name, where) {
  if (bytes) return bytes;
  throw new ElmoError(
    `${where ?? "files"}: there is no ${name}, so this isn't a model folder. Pass the address of a folder that ` +
      "'elmo convert', 'elmo pretrain' or 'elmo explore --export' made.",
  );
}

async function readWasm(files) {
  const given = await readFile(undefined, "elmo.wasm", files);
  if (given) return given;
  const url = wasmAddress();
  const found = await readAddress(url, "elmo.wasm");
  if (found) return found;
  throw new ElmoError(`${url}: there is no elmo.wasm, which elmo.js looks for beside itself. Copy it there, or pass it in \`files\`.`);
}

/** Written in the way that bundlers know: they copy the file and put its new address here. */
function wasmAddress() {
  try {
    return new URL("./elmo.wasm", import.meta.url);
  } catch {
    throw new ElmoError("a script of this format has no address, so elmo.wasm isn't found beside it. Pass it in `files`, or build a module (esm).");
  }
}

class Elmo {
  #network;
  #architecture;
  #exact;
  #read;
  #softmax = null; // a promise of it, from the first use on

  constructor(network, architecture, exact, read) {
    this.#network = network;
    this.#architecture = architecture;
    this.#exact = exact;
    this.#read = read;
  }

  tokenize(text) {
    if (typeof text === "string") return tokenize(text);
    throw new ElmoError(`text is ${typeof text}, but tokenize takes a string. Pass one text at a time.`);
  }

  embed(tokens) {
    const isBatch = Array.isArray(tokens) && Array.isArray(tokens[0]);
    const sentences = isBatch ? tokens : [tokens];
    sentences.forEach((sentence, index) => checkTokens(sentence, isBatch ? `sentences[${index}]` : "tokens"));
    const { layers, dimensions } = this.#network;
    const found = this.#network
      .embed(sentences)
      .map((data, index) => ({ layers, tokens: sentences[index].length, dimensions, data }));
    return isBatch ? found : found[0];
  }

  async substitutes(tokens, place, count = 10) {
    checkTokens(tokens, "tokens");
    if (!Number.isInteger(place) || place < 0 || place >= tokens.length) {
      throw new ElmoError(
        `place is ${told(place)}, but the sentence has ${tokens.length} token${tokens.length === 1 ? "" : "s"}. ` +
          (tokens.length ? `Use a place from 0 to ${tokens.length - 1}.` : "Pass a sentence with tokens."),
      );
    }
    if (!Number.isInteger(count) || count < 1) {
      throw new ElmoError(`count must be a whole number of at least 1 (got ${told(count)}): it is the number of words returned.`);
    }
    this.#softmax ??= this.#loadSoftmax().catch((error) => {
      this.#softmax = null; // may succeed the next time
      throw error;
    });
    return (await this.#softmax).substitutes(tokens, place, count);
  }

  async #loadSoftmax() {
    const [softmax, vocabulary] = await Promise.all(["softmax.safetensors", "vocab.txt"].map(this.#read));
    if (!softmax || !vocabulary) {
      throw new ElmoError(
        `the model has no ${softmax ? "vocab.txt" : "softmax.safetensors"}, so it can't predict words. Published models ` +
          "have none; take one that 'elmo pretrain' made.",
      );
    }
    await checkHashes(this.#architecture, vocabulary);
    const found = readTensors(softmax, "softmax.safetensors");
    await checkTensors(this.#network.kernels, found, "softmax.safetensors");
    return new Softmax(this.#network, found.tensors, vocabulary);
  }

  describe() {
    const { layers, dimensions } = this.#network;
    const { architecture: config, metadata = {} } = structuredClone(this.#architecture.facts);
    return { layers, dimensions, exact: this.#exact, state: "zero", boundaries: [...BOUNDARIES], config, metadata };
  }
}

function checkTokens(sentence, name) {
  if (!Array.isArray(sentence)) {
    throw new ElmoError(
      `${name} is ${typeof sentence}, but a sentence is an array of tokens. Split raw text first: elmo.tokenize(text)`,
    );
  }
  const wrong = sentence.findIndex((token) => typeof token !== "string");
  if (wrong < 0) return;
  throw new ElmoError(
    `${name}[${wrong}] is ${typeof sentence[wrong]}, but a token is a string. Convert it to one; an empty string is a ` +
      "token too.",
  );
}
