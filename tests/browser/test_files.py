"""Where elmo.js reads a model from, and which models it refuses."""

import json
import re
import shutil
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pytest
from tests.browser.in_node import BROWSER, Refused, as_arrays, random_checkpoint
from tests.browser.served import served
from tests.browser.test_vectors import NEAR, TINY

from elmo.embed.embedder import Embedder
from elmo.weights.native.write import write

LOAD = "const elmo = await load(given.where); return elmo.describe();"
TOKENS = ["the", "bank"]


@pytest.fixture
def folder(tmp_path):
    write(random_checkpoint(TINY, words=70), tmp_path / "a model, 모델")
    return tmp_path / "a model, 모델"


@pytest.fixture
def address(folder):
    """The folder above the model, served."""
    with served(folder.parent) as found:
        yield found


def change_config(folder, architecture):
    """In config.json; `architecture`: changes of it, or what takes its place."""
    facts = json.loads((folder / "config.json").read_text())
    is_changed = isinstance(architecture, dict)
    facts["architecture"] = facts["architecture"] | architecture if is_changed else architecture
    (folder / "config.json").write_text(json.dumps(facts))


def require_vectors(found, folder):
    (vectors,) = as_arrays([found])
    (expected,) = Embedder.from_pretrained(folder, device="cpu").embed([TOKENS])
    assert np.abs(vectors - expected).max() <= NEAR


def test_a_model_is_read_from_a_server_and_reports_its_progress(javascript, folder, address):
    code = """
    const seen = [];
    const elmo = await load(given.where, { onProgress: (one) => seen.push(one) });
    const one = elmo.embed(given.tokens);
    return { vectors: { ...one, data: floats(one.data) }, seen };
    """
    found = javascript(code, where=f"{address}/{folder.name}", tokens=TOKENS)
    require_vectors(found["vectors"], folder)
    last = {one["file"]: one for one in found["seen"]}
    for name in ("config.json", "model.safetensors"):
        size = (folder / name).stat().st_size
        assert last[name] == {"file": name, "loaded": size, "total": size}


def test_a_model_is_read_from_memory(javascript, folder):
    code = """
    const files = Object.entries(given.files).map(([name, text]) => [name, bytes(text)]);
    const found = [];
    for (const held of [new Map(files), Object.fromEntries(files)]) {
      const elmo = await load(undefined, { files: held });
      const one = elmo.embed(given.tokens);
      await elmo.substitutes(given.tokens, 0);
      found.push({ ...one, data: floats(one.data) });
    }
    return found;
    """
    files = {path.name: b64encode(path.read_bytes()).decode() for path in folder.iterdir()}
    files["elmo.wasm"] = b64encode((BROWSER / "elmo.wasm").read_bytes()).decode()
    for found in javascript(code, files=files, tokens=TOKENS):
        require_vectors(found, folder)


@pytest.mark.parametrize("code", [LOAD, LOAD.replace("given.where", "new URL(given.where)")])
def test_a_file_s_address_is_a_folder_too(javascript, folder, code):
    assert javascript(code, where=folder.as_uri())["dimensions"] == 2 * TINY.projection_size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"characters": "dictionary"}, 'characters is "dictionary", but elmo.js reads "bytes" alone'),
        ({"num_words": 5}, "num_words is 5, but elmo.js reads models without word embeddings"),
        ({"cell_size": 10**9}, "cell_size is 1000000000, but .* a whole number from 1 to 16384"),
        ({"cell_size": "32"}, 'cell_size is "32", but'),
        ({"filters": [[13, 2]]}, "a filter's width is 13, but .* from 1 to 12"),
        ({"filters": []}, r"filters is \[\], but"),
        ({"activation": "gelu"}, 'activation is "gelu", but .* relu or tanh'),
        ({"cell_clip": -1}, "cell_clip is -1, but .* positive, or null"),
        ({"projection_size": 33}, "projection_size is 33, but .* at most cell_size, 32"),
        ({"token_projection": False}, "token_projection is false, but"),
    ],
)
def test_other_models_are_refused(change, message, javascript, folder):
    change_config(folder, change)
    with pytest.raises(Refused, match=message):
        javascript(LOAD, where=str(folder))


def test_files_that_were_changed_are_refused(javascript, folder):
    change_config(folder, {"forget_bias": 0.0})
    with pytest.raises(Refused, match="'architecture' has the SHA-256 .*: it was changed after the model was written"):
        javascript(LOAD, where=str(folder))


def test_a_changed_vocabulary_is_refused(javascript, folder):
    with (folder / "vocab.txt").open("a") as file:
        file.write("more\n")
    code = "return (await load(given.where)).substitutes(['a'], 0);"
    with pytest.raises(Refused, match=r"vocab\.txt has the SHA-256"):
        javascript(code, where=str(folder))


def test_tensors_of_another_model_are_refused(javascript, folder, tmp_path):
    write(random_checkpoint(replace(TINY, cell_size=48)), tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    with pytest.raises(Refused, match=r"has the shape \(.*\), but config.json asks for the shape"):
        javascript(LOAD, where=str(folder))
    write(random_checkpoint(replace(TINY, num_layers=3)), tmp_path / "deeper")
    shutil.copy(tmp_path / "deeper" / "model.safetensors", folder)
    with pytest.raises(Refused, match="is not part of the model that config.json describes"):
        javascript(LOAD, where=str(folder))


@pytest.mark.parametrize("kept", [0, 4, 100, 3000, -1])
def test_a_file_that_was_cut_off_is_refused(kept, javascript, folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(Refused, match=r"model\.safetensors: can't be read as safetensors"):
        javascript(LOAD, where=str(folder))


def test_a_header_without_metadata_is_refused(javascript, folder):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length]) | {"__metadata__": None}
    path.write_bytes(
        content[:8] + json.dumps(header, separators=(",", ":")).encode().ljust(length) + content[8 + length :]
    )
    with pytest.raises(Refused, match="the tensors don't have the SHA-256 that was stored with them"):
        javascript(LOAD, where=str(folder))


def test_what_config_json_does_not_say_is_an_empty_object(javascript, folder):
    facts = json.loads((folder / "config.json").read_text())
    del facts["metadata"]
    (folder / "config.json").write_text(json.dumps(facts))
    assert javascript(LOAD, where=str(folder))["metadata"] == {}


@pytest.mark.parametrize("name", ["model.safetensors", "softmax.safetensors"])
def test_a_single_wrong_bit_is_noticed(name, javascript, folder):
    content = bytearray((folder / name).read_bytes())
    content[-3] ^= 1
    (folder / name).write_bytes(content)
    code = "return (await load(given.where)).substitutes(['a'], 0);"
    with pytest.raises(Refused, match=f"{name}: the tensors don't have the SHA-256 that was stored with them"):
        javascript(code, where=str(folder))


def test_what_is_no_model_folder_is_named(javascript, tmp_path, address):
    for where in (str(tmp_path), f"{address}/nothing"):
        with pytest.raises(Refused, match=r"there is no config\.json, so this isn't a model folder"):
            javascript(LOAD, where=where)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "where is undefined, but a model is loaded from the URL or the path of its folder"),
        ("''", 'where is "", but'),
        ("5", "where is 5, but"),
        ("null, { files: {} }", "where is null, but"),
        ("given.where, { exact: 'no' }", r'exact is "no", but it says yes or no\. Pass true'),
    ],
)
def test_arguments_without_sense_are_named(arguments, message, javascript, folder):
    with pytest.raises(Refused, match=message):
        javascript(f"return (await load({arguments})).describe();", where=str(folder))


@pytest.mark.parametrize("where", ["https://", "https://[a", "file://b%/a"])
def test_what_is_no_address_is_named(where, javascript):
    with pytest.raises(Refused, match=rf"^{re.escape(where)}: isn't an address \(.+\)\. Pass the URL or the path"):
        javascript(LOAD, where=where)


def test_what_describe_gives_is_the_callers_own(javascript, folder):
    code = """
    const elmo = await load(given.where);
    const before = elmo.embed(["the", "bank"]).data;
    const told = elmo.describe();
    told.config.max_characters_per_token = 3;
    told.metadata.language = "xx";
    const found = [before, elmo.embed(["the", "bank"]).data, elmo.describe().config.max_characters_per_token];
    return found.map((it) => it.toString());
    """
    before, after, limit = javascript(code, where=str(folder))
    assert before == after and limit != "3"


@pytest.mark.parametrize("architecture", [None, [], "elmo"])
def test_an_architecture_of_another_type_is_named_and_not_the_version(architecture, javascript, folder):
    change_config(folder, architecture)
    with pytest.raises(Refused, match=r"architecture is .*, but .* an object: .* or use elmo in Python for it\."):
        javascript(LOAD, where=str(folder))


SERVE = """
const { createServer } = await import("node:http");
const { readFileSync } = await import("node:fs");
const asked = [];
const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  asked.push(url.search);
  const name = url.pathname.split("/").at(-1);
  if (given.kind === "page") return response.end("\\n <!DOCTYPE html><title>app</title>");
  const content = readFileSync(`${given.folder}/${name}`);
  response.writeHead(200, { "content-length": content.length });
  if (given.kind !== "broken" || name === "config.json") return response.end(content);
  response.write(content.subarray(0, 9), () => response.destroy());
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
try {
  const options = given.progress ? { onProgress: () => {} } : {};
  await load(`http://127.0.0.1:${server.address().port}/x/?sig=a%2Fb#part`, options);
  return asked;
} finally {
  server.closeAllConnections?.();
  server.close();
}
"""


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("page", "gives a web page here, not the file config.json. Check the address"),
        ("broken", "model.safetensors.*can't be fetched .*the connection broke"),
    ],
)
def test_whatever_goes_wrong_on_the_network_is_told_with_its_culprit(javascript, folder, kind, message, progress):
    with pytest.raises(Refused, match=message):
        javascript(SERVE, folder=str(folder), kind=kind, progress=progress)


def test_an_address_keeps_its_query(javascript, folder):
    assert javascript(SERVE, folder=str(folder), kind="", progress=True) == ["?sig=a%2Fb"] * 2
