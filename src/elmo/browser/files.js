// The files of a model, wherever they are: beside a page, in a folder of node's, or in memory already.

import { ElmoError } from "./errors.js";

// Bytes: WebAssembly's memory is 4 GB; the other files are small.
const limitOf = (url) => (url.pathname.endsWith(".safetensors") ? 2 ** 31 : 2 ** 26);

const inNode = typeof process === "object" && Boolean(process.versions?.node) && typeof window === "undefined";

/** Reads one file: Uint8Array; or null if it isn't there. `onProgress`: {file, loaded, total}; total 0: not known. */
export async function readFile(where, name, files, onProgress) {
  const given = files instanceof Map ? files.get(name) : files?.[name];
  if (given !== undefined) return bytesOf(given, name);
  if (where === undefined) return null;
  const url = await addressOf(where, name).catch((error) => {
    throw new ElmoError(`${where}: isn't an address (${error.message}). Pass the URL or the path of a model's folder.`);
  });
  const bytes = inNode && url.protocol === "file:" ? await fromDisk(url) : await fromNetwork(url, name, onProgress);
  if (bytes) onProgress?.({ file: name, loaded: bytes.length, total: bytes.length });
  return bytes;
}

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
  const folder = String(where).replace(/\/*$/, "/");
  if (/^[a-z][a-z0-9+.-]+:/i.test(folder)) return new URL(name, folder); // a drive of Windows has one letter
  if (!inNode) return new URL(name, new URL(folder, globalThis.location?.href));
  const { pathToFileURL } = await import("node:url");
  return pathToFileURL(folder + name);
}

async function fromDisk(url) {
  const { readFile: read, stat } = await import("node:fs/promises");
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
  let answer;
  try {
    answer = await fetch(url);
  } catch (error) {
    throw new ElmoError(
      `${url}: can't be fetched (${error.message}): there is no server, or it forbids other pages to read it. A page ` +
        "that was opened from disk has to pass its files as `files`.",
    );
  }
  if (answer.status === 404) return null;
  if (!answer.ok) throw new ElmoError(`${url}: the server answered ${answer.status}. Try again, or check the address.`);
  const total = Number(answer.headers.get("content-length")) || 0;
  checkSize(total, url);
  if (!onProgress || !answer.body) return new Uint8Array(await answer.arrayBuffer());
  const parts = [];
  let loaded = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done, value } = await reader.read();
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

function checkSize(size, url) {
  if (size <= limitOf(url)) return;
  throw new ElmoError(
    `${url}: has ${size} bytes, but elmo.js reads up to ${limitOf(url)} of such a file: WebAssembly has 4 GB of memory. ` +
      "Use a smaller model, or elmo in Python.",
  );
}
