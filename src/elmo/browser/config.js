// config.json: the architecture, what elmo.js reads of all that there is, and the SHA-256 that the file states.

import { ElmoError } from "./errors.js";
import { sha256 } from "./safetensors.js";

const IN_PYTHON = "Use elmo in Python for it.";

/** The architecture of a config.json, checked. */
export function readConfig(bytes) {
  const text = new TextDecoder().decode(bytes);
  let facts;
  try {
    facts = JSON.parse(text);
  } catch (error) {
    throw new ElmoError(`config.json: isn't JSON (${error.message}): it is damaged. Get the model again.`);
  }
  if (facts?.format_version !== 1) {
    throw new ElmoError(
      `config.json: format_version is ${JSON.stringify(facts?.format_version)}, but this elmo.js reads 1: another ` +
        "program or a newer elmo wrote it. Pass a folder that 'elmo convert' or 'elmo pretrain' made, or take a newer elmo.js.",
    );
  }
  const config = facts.architecture;
  if (config === null || typeof config !== "object" || Array.isArray(config)) throw wrong("architecture", config, "an object");
  refuseUnread(config);
  checkSizes(config);
  const directions = config.direction === "both" ? ["forward", "backward"] : [config.direction];
  return { facts, text, config, directions };
}

function refuseUnread(config) {
  if (config.characters !== "bytes") {
    throw new ElmoError(
      `config.json: characters is ${JSON.stringify(config.characters)}, but elmo.js reads "bytes" alone: a dictionary of ` +
        `characters would be one more file to load. ${IN_PYTHON}`,
    );
  }
  if (config.num_words !== 0) {
    throw new ElmoError(
      `config.json: num_words is ${config.num_words}, but elmo.js reads models without word embeddings: their tables are ` +
        `too large for a page. ${IN_PYTHON}`,
    );
  }
}

const SIZES = { num_characters: [262, 262], character_dim: [1, 4096], max_characters_per_token: [3, 1000],
  num_highway: [0, 64], cell_size: [1, 16384], projection_size: [1, 16384], num_layers: [1, 64] };

const KINDS = { activation: ["relu", "tanh"], direction: ["both", "forward", "backward"], token_projection: [true, false],
  skip_connections: [true, false] };

function checkSizes(config) {
  for (const [name, [least, most]] of Object.entries(SIZES)) within(name, config[name], least, most);
  const filters = config.filters;
  if (!Array.isArray(filters) || filters.length < 1 || filters.length > 64) {
    throw wrong("filters", filters, "1 to 64 pairs of width and number");
  }
  for (const pair of filters) {
    within("a filter's width", pair?.[0], 1, config.max_characters_per_token);
    within("a filter's number", pair?.[1], 1, 65536);
  }
  for (const name of ["cell_clip", "projection_clip"]) {
    const clip = config[name];
    if (clip !== null && !(clip > 0)) throw wrong(name, clip, "positive, or null for no clip");
  }
  for (const [name, values] of Object.entries(KINDS)) {
    if (!values.includes(config[name])) throw wrong(name, config[name], values.join(" or "));
  }
  if (!Number.isFinite(config.forget_bias)) throw wrong("forget_bias", config.forget_bias, "a number");
  if (config.projection_size > config.cell_size) {
    throw wrong("projection_size", config.projection_size, `at most cell_size, ${config.cell_size}`);
  }
  const features = filters.reduce((sum, pair) => sum + pair[1], 0);
  if (!config.token_projection && features !== config.projection_size) {
    throw wrong("token_projection", false, `true, because the ${features} filters aren't projection_size`);
  }
}

function within(name, value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw wrong(name, value, least === most ? String(least) : `a whole number from ${least} to ${most}`);
  }
}

function wrong(name, value, wanted) {
  return new ElmoError(
    `config.json: ${name} is ${JSON.stringify(value)}, but elmo.js reads models where it is ${wanted}: the file is ` +
      `damaged, or the model is of another kind. Get the model again, or use elmo in Python for it.`,
  );
}

/** Throws unless the architecture and `vocabulary` (bytes, or null) are what config.json states, where that can be hashed. */
export async function checkHashes({ facts, text }, vocabulary) {
  const stated = facts.sha256 ?? {};
  if (!globalThis.crypto?.subtle) return; // pages that aren't from https have none
  const architecture = canonical(literalNumbers(text).architecture);
  await compare("config.json: 'architecture'", stated.architecture, new TextEncoder().encode(architecture));
  if (vocabulary) await compare("vocab.txt", stated["vocab.txt"], vocabulary);
}

async function compare(what, stated, bytes) {
  if (stated === undefined) return; // files of earlier versions state none
  const found = await sha256(bytes);
  if (found === stated) return;
  throw new ElmoError(
    `${what} has the SHA-256 ${found}, but config.json states ${stated}: it was changed after the model was written, ` +
      "and the vectors would be others. Get the model again.",
  );
}

/** The JSON with its numbers as they are written, "#3.0": JavaScript has no other way to tell 3.0 from 3. */
function literalNumbers(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (found) =>
    found.startsWith('"') ? found : `"#${found}"`,
  ));
}

/** As Python's json.dumps(..., sort_keys=True) writes it. */
function canonical(value) {
  if (typeof value === "string") return value.startsWith("#") ? value.slice(1) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(", ")}]`;
  if (value === null || typeof value !== "object") return String(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}: ${canonical(value[key])}`);
  return `{${members.join(", ")}}`;
}
