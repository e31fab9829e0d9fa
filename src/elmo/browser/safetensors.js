// A safetensors file: names -> {type, shape, bytes}, with the same types and the same fingerprint that elmo's Python writes.

import { ElmoError } from "./errors.js";

const BYTES = { F32: 4, F16: 2, U16: 2, I8: 1 }; // U16: bfloat16
const LONGEST_HEADER = 100e6;
export const STEPS = ".steps"; // beside a tensor of whole numbers: the size of each row's steps

/** The tensors of a file, on its own bytes, and its metadata. */
export function readTensors(bytes, name) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.length < 8 ? NaN : Number(view.getBigUint64(0, true));
  if (!(length <= Math.min(LONGEST_HEADER, bytes.length - 8))) throw damaged(name, "its header is longer than the file");
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, 8 + length)));
  } catch (error) {
    throw damaged(name, error.message);
  }
  if (header === null || typeof header !== "object") throw damaged(name, "its header has no tensors");
  const { __metadata__: metadata, ...entries } = header;
  const tensors = new Map();
  for (const [tensor, entry] of Object.entries(entries)) tensors.set(tensor, tensorOf(bytes, 8 + length, entry, name, tensor));
  return { tensors, metadata: metadata ?? {} };
}

/** A tensor with its steps, if it has some. */
export function withSteps(tensors, name) {
  const found = tensors.get(name);
  return found.type === "I8" ? { ...found, steps: tensors.get(name + STEPS)?.bytes } : found;
}

/** Throws unless the tensors have the SHA-256 that was stored with them, where that can be computed. */
export async function checkTensors(kernels, { tensors, metadata }, file) {
  if (!globalThis.crypto?.subtle) return; // pages that aren't from https have none
  const lines = [];
  const names = [...tensors.keys()].filter((name) => !(name.endsWith(STEPS) && tensors.has(name.slice(0, -STEPS.length))));
  for (const name of names.sort()) {
    const { shape } = tensors.get(name);
    const head = new TextEncoder().encode(`<f4(${shape.join(", ")}${shape.length === 1 ? "," : ""})`);
    const values = kernels.scratch(() => {
      const count = shape.reduce((product, side) => product * side, 1);
      const copied = new Uint8Array(head.length + 4 * count);
      copied.set(head);
      copied.set(kernels.bytes(kernels.widened(withSteps(tensors, name)), 4 * count), head.length);
      return copied;
    });
    lines.push(`${name}\n${await sha256(values)}\n`);
  }
  if ((await sha256(new TextEncoder().encode(lines.join("")))) === metadata.sha256) return;
  throw new ElmoError(
    `${file}: the tensors don't have the SHA-256 that was stored with them: the file was damaged after it was written, or ` +
      "another program wrote it. Get it again.",
  );
}

/** Hexadecimal. */
export async function sha256(bytes) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function tensorOf(bytes, begin, entry, file, name) {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  if (!(dtype in BYTES)) {
    throw new ElmoError(
      `${file}: tensor ${name} has type ${dtype}, but a model holds float32, float16, bfloat16 or int8: the file is ` +
        "damaged or from another program. Get it again.",
    );
  }
  const whole = (values) => Array.isArray(values) && values.every((value) => Number.isSafeInteger(value) && value >= 0);
  if (!whole(shape) || !whole(offsets) || offsets.length !== 2) throw damaged(file, `tensor ${name} has no place`);
  const size = shape.reduce((product, side) => product * side, BYTES[dtype]);
  if (offsets[1] - offsets[0] !== size || begin + offsets[1] > bytes.length) {
    throw damaged(file, `tensor ${name} isn't whole`);
  }
  return { type: dtype, shape, bytes: bytes.subarray(begin + offsets[0], begin + offsets[1]) };
}

function damaged(file, detail) {
  return new ElmoError(`${file}: can't be read as safetensors (${detail}): it is damaged or cut off. Get it again.`);
}
