// The engine of `elmo explore`'s own process, behind its routes: any model that elmo reads, of any size.

// `base`: the address of the model's routes. `layers`, `dim`: sizes of its vectors; `config`: its architecture.
export function servedEngine(base, { layers, dim }, config) {
  const post = (route, request) => answered(new URL(route, base), {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request),
  });
  return {
    async embed(sentences) {
      const values = new Float32Array(await (await post("layers", { sentences })).arrayBuffer());
      let at = 0;
      return sentences.map(({ length }) => ({ layers, tokens: length, dimensions: dim, data: values.subarray(at, at += layers * length * dim) }));
    },
    substitutes: async (tokens, place, count) => (await post("substitutes", { tokens, place, count })).json(),
    describe: () => ({ config }),
  };
}

// The index that the server made of the text: what TextIndex.restore takes.
export async function servedIndex(base, index) {
  const array = async (name, Kind) => {
    const bytes = await (await answered(new URL(name, base))).arrayBuffer();
    return new Kind(bytes, 10 + new DataView(bytes).getUint16(8, true));  // numpy's file, version 1: after its header
  };
  const lengths = await array("lengths.npy", Float32Array);
  const halves = await Promise.all(Array.from({ length: index.layers }, (_, layer) => array(`layer-${layer}.npy`, Uint16Array)));
  return { text: index.lines.join("\n"), halves, lengths: halves.map((_, layer) => lengths.subarray(layer * index.size, (layer + 1) * index.size)) };
}

// A response of the server, or an error that says what it answered.
export async function answered(address, options) {
  const response = await fetch(address, options).catch(() => null);
  if (!response) throw new Error("elmo explore does not answer: it was stopped, or this machine sleeps. Start it again and reload.");
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  throw new Error(told?.error?.message ?? `The server answered with status ${response.status}.`);
}
