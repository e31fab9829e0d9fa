/** What a file of a model is: its bytes. */
export type FileBytes = Uint8Array | ArrayBuffer;

export interface Progress {
  /** The file's name, for instance "model.safetensors". */
  file: string;
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole file, as far as they are known. */
  total: number;
}

export interface LoadOptions {
  /** Called while files arrive. */
  onProgress?: (progress: Progress) => void;
  /**
   * true (default): weights as the model stores them, sums as exact as float32: the vectors of Python's `Embedder`, up to
   * 5e-5 in ordinary sentences. false: int8, as `Embedder(dtype="int8")`: coarser, and about twice as fast.
   */
  exact?: boolean;
  /** Files that are in memory already, by name; "elmo.wasm" may be one of them. The others are read from the folder. */
  files?: Map<string, FileBytes> | Record<string, FileBytes>;
}

export interface Vectors {
  /** The token layer and the LSTM layers. */
  layers: number;
  tokens: number;
  /** Of a token's vector in one layer, both directions together. */
  dimensions: number;
  /** (layers, tokens, dimensions): the vector of a token begins at (layer * tokens + token) * dimensions. */
  data: Float32Array;
}

export interface Prediction {
  /** The most probable words with their probabilities, the best first. An entry that ends in ⋯ stands for all unlisted
   * words with that beginning. */
  best: [word: string, probability: number][];
  /** Of the sentence's own word; null if the vocabulary lacks it. */
  probability: number | null;
  /** How many words are at least as probable as the sentence's own: 1 for the best. */
  rank: number | null;
}

export interface Substitutes {
  /** By the left side alone. */
  forward?: Prediction;
  /** By the right side alone. */
  backward?: Prediction;
  /** By both: the product of their probabilities, scaled to a sum of 1; of a model with one direction what that predicts. */
  both: Prediction;
}

export interface Description {
  layers: number;
  dimensions: number;
  exact: boolean;
  /** What every sentence starts from: always the same vectors for the same sentence. */
  state: "zero";
  /** The tokens that are read before and after every sentence. */
  boundaries: [string, string];
  /** `architecture` of config.json. */
  config: Record<string, unknown>;
  /** `metadata` of config.json. */
  metadata: Record<string, string>;
}

export interface Elmo {
  /** A text's tokens, as elmo's tokenizer "auto" splits it. No character is changed: `embed_text` in Python also composes
   * letters, `text.normalize("NFC")`, and reads typographic marks as plain ones. */
  tokenize(text: string): string[];
  /** The vectors of a sentence, or of several: each is the same alone and among others, bit for bit. [] is one sentence,
   * without tokens. */
  embed(tokens: readonly string[]): Vectors;
  embed(sentences: readonly (readonly string[])[]): Vectors[];
  /**
   * The `count` (default 10) most probable words for `tokens[place]`, counted from 0. The first call loads the softmax and
   * the vocabulary. Rejects with an ElmoError if the model has none.
   */
  substitutes(tokens: readonly string[], place: number, count?: number): Promise<Substitutes>;
  /** Sizes and settings, as plain values. */
  describe(): Description;
}

/**
 * Loads a model folder of elmo: config.json and model.safetensors, and later softmax.safetensors and vocab.txt.
 *
 * `where`: a URL, as a string or an object; or a path, relative to the page or, in node, to the working folder. undefined: all files are in `files`.
 * Rejects with an ElmoError if the folder isn't a model, is damaged, or is of a kind that this module doesn't read.
 */
export function load(where?: string | { readonly href: string }, options?: LoadOptions): Promise<Elmo>;

/** What a caller can put right: the message says what is wrong, why, and what to do next. */
export class ElmoError extends Error {}
