// The files of a model, wherever they are: beside a page, in a folder of node's, or in memory already.

import { ElmoError } from "./errors.js";

// Bytes: WebAssembly's memory is 4 GB; the other files are small.
const limitOf = (url) => (url.pathname.endsWith(".safetensors") ? 2 ** 31 : 2 ** 26);

const inNode =
  typeof process === "object" && Boolean(process.versions?.node) && typeof window === "undefined" && typeof WorkerGlobalScope === "undefined";

// A module of node's, by a name that no bundler looks up: a page has none, and a plain script knows no conditions of imports.
const builtin = (name) => import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);

/** Reads one file: Uint8Array; or null if it isn't there. `onProgress`: {file, loaded, total}; total 0: not known. */
export async function readFile(where, name, files, onProgress) {
  const given = files instanceof Map ? files.get(name) : files?.[name];
  if (given !== undefined) return bytesOf(given, name);
  if (where === undefined) return null;
  const url = await addressOf(where, name).catch((error) => {
    throw new ElmoError(`${where}: isn't an address (${error.message}). Pass the URL or the path of a model's folder.`);
  });
  const bytes = await readAddress(url, name, onProgress);
  if (bytes) onProgress?.({ file: name, loaded: bytes.length, total: bytes.length });
  return bytes;
}

/** The file `name` at its own address; or null. */
export const readAddress = (url, name, onProgress) =>
  inNode && url.protocol === "file:" ? fromDisk(url) : fromNetwork(url, name, onProgress);

function bytesOf(given, name) {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (given instanceof Uint8Array) return given;
  throw new ElmoError(
    `files[${JSON.stringify(name)}] is ${typeof given}, but a file is a Uint8Array or an ArrayBuffer. Read it first: ` +
      "new Uint8Array(await (await fetch(url)).arrayBuffer())",
  );
}

/** A URL, or the path of a folder; relative ones start at the page's address or node's working folder. */
async function addressOf(where, name) {
  const folder = String(where?.href ?? where);
  if (inNode && !/^[a-z][a-z0-9+.-]+:/i.test(folder)) {  // a drive of Windows has one letter
    const { pathToFileURL } = await builtin("url");
    return pathToFileURL(folder.replace(/(?<!\/)\/*$/, "/") + name);
  }
  const url = new URL(folder, inNode ? undefined : globalThis.location?.href);  // whose query may hold a signature
  url.pathname = url.pathname.replace(/(?<!\/)\/*$/, "/") + name;
  url.hash = "";
  return url;
}

async function fromDisk(url) {
  const { readFile: read, stat } = await builtin("fs/promises");
  try {
    checkSize((await stat(url)).size, url);
    return new Uint8Array(await read(url));
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    if (error instanceof ElmoError) throw error;
    throw new ElmoError(`${url.pathname}: can't be read (${error.message}). Pass the folder of a model.`);
  }
}

async function fromNetwork(url, name, onProgress) {
  const answer = await arrived(url, () => fetch(url));
  if (answer.status === 404) return null;
  if (!answer.ok) throw new ElmoError(`${url}: the server answered ${answer.status}. Try again, or check the address.`);
  const total = Number(answer.headers.get("content-length")) || 0;
  checkSize(total, url);
  const bytes = await (onProgress && answer.body ? inParts(answer, url, name, total, onProgress) : arrived(url, () => answer.arrayBuffer()));
  return withoutPage(new Uint8Array(bytes), url, name);
}

/** What the network gives, or an ElmoError. */
async function arrived(url, give) {
  try {
    return await give();
  } catch (error) {
    throw new ElmoError(
      `${url}: can't be fetched (${error.message}): there is no server, the connection broke, or it forbids other pages to ` +
        "read it. Try again. A page that was opened from disk has to pass its files as `files`.",
    );
  }
}

async function inParts(answer, url, name, total, onProgress) {
  const parts = [];
  let loaded = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await arrived(url, () => reader.read());
    if (done) break;
    parts.push(value);
    loaded += value.length;
    checkSize(loaded, url);
    onProgress({ file: name, loaded, total: Math.max(total, loaded) });
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Many sites answer an address that they don't know with their own page, as if it were the file. */
function withoutPage(bytes, url, name) {
  const begin = new TextDecoder().decode(bytes.subarray(0, 1000)).trimStart();
  // vocab.txt may begin with "<S>".
  if (name === "vocab.txt" ? !/^<(?:!doctype|html)/i.test(begin) : !begin.startsWith("<")) return bytes;
  throw new ElmoError(
    `${url}: the server gives a web page here, not the file ${name}. ` +
      (name === "elmo.wasm"
        ? "elmo.js looks for it beside itself: see \"With a bundler\" in docs/javascript.md, or pass it in `files`."
        : "Check the address: it must be that of the model's folder."),
  );
}

function checkSize(size, url) {
  if (size <= limitOf(url)) return;
  throw new ElmoError(
    `${url}: has ${size} bytes, but elmo.js reads up to ${limitOf(url)} of such a file: WebAssembly has 4 GB of memory. ` +
      "Use a smaller model, or elmo in Python.",
  );
}
