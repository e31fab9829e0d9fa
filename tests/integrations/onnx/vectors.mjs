// node vectors.mjs MODEL.onnx PACKAGES < batches.json: the vectors of each batch from onnxruntime-web, as JSON.
// A batch: {name: {"shape": [...], "values": [...]}}, all of them integers. PACKAGES: npm's folder node_modules.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [model, packages] = process.argv.slice(2);
const ort = createRequire(`${packages}/`)("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync(model), { executionProviders: ["wasm"] });
const results = [];
for (const batch of JSON.parse(readFileSync(0, "utf8"))) {
  const inputs = {};
  for (const [name, { shape, values }] of Object.entries(batch)) {
    inputs[name] = new ort.Tensor("int64", BigInt64Array.from(values, BigInt), shape);
  }
  const { layers } = await session.run(inputs);
  const bytes = Buffer.from(layers.data.buffer, layers.data.byteOffset, layers.data.byteLength);
  results.push({ shape: layers.dims, values: bytes.toString("base64") });
}
process.stdout.write(JSON.stringify(results));
