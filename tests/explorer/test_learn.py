"""The toy biLM of the page: its gradients are torch's, its curve is the seed's, and "bank" moves apart."""

from pathlib import Path

import pytest
from tests.explorer.in_node import node

import elmo

LEARN = Path(elmo.__file__).parent / "explorer" / "learn"
SENTENCE = [0, 4, 5, 6, 4, 10, 1]
SIZES = {"words": 11, "dim": 5, "cells": 4}
TRAINED = f"""
import {{ Training }} from "{LEARN}/training.js";
import {{ TEXTS }} from "{LEARN}/texts.js";
import {{ projected }} from "{LEARN}/picture.js";
import {{ readFileSync }} from "node:fs";
const {{ language, seed, epochs }} = JSON.parse(readFileSync(0, "utf8"));
const {{ text, word }} = TEXTS[language];
const training = new Training(text, {{ seed, rate: 0.01, dim: 16, cells: 16, layers: 1 }});
const look = () => {{
  const uses = training.uses(word, 100), {{ points }} = projected(uses.map((use) => use.vector));
  return uses.map(({{ row, place }}, i) => ({{ tokens: training.sentences[row], place, at: points[i] }}));
}};
const before = look();
while (training.epochs < epochs) training.step();
process.stdout.write(JSON.stringify({{ before, after: look(), curve: training.curve }}));
"""
FIRST_MEANING = {
    "en": {"clerk", "lawyer", "merchant", "boss", "banker", "customer"},
    "ko": {"어부는", "선장은", "선원은", "해군은", "사공은"},
}


def test_gradients_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    program = f"""
import {{ ToyBilm }} from "{LEARN}/network.js";
import {{ readFileSync }} from "node:fs";
const {{ sizes, ids }} = JSON.parse(readFileSync(0, "utf8"));
const bilm = new ToyBilm(sizes, 3), losses = bilm.train(ids);
const named = (views) => Object.fromEntries(Object.entries(views).map(([name, view]) => [name, [...view]]));
process.stdout.write(JSON.stringify({{ losses, weights: named(bilm.at), gradients: named(bilm.by) }}));
"""
    for layers in (1, 2):
        found = node(program, {"sizes": {**SIZES, "layers": layers}, "ids": SENTENCE})
        width = {"vectors": 5, "softmax": 4, "forward0": 9, "backward0": 9, "forward1": 8, "backward1": 8}
        weights = {
            name: torch.tensor(values, dtype=torch.float64).view(-1, width.get(name, 1)).requires_grad_()
            for name, values in found["weights"].items()
        }

        def loss(direction: str, ids: list[int], weights: dict = weights, layers: int = layers) -> "torch.Tensor":
            outputs = weights["vectors"][ids[:-1]]
            for layer in range(layers):
                hidden = memory = torch.zeros(4, dtype=torch.float64)
                rows = []
                for row in outputs:
                    matrix, bias = weights[f"{direction}{layer}"], weights[f"{direction}{layer}Bias"].flatten()
                    i, f, g, o = (matrix @ torch.cat([row, hidden]) + bias).chunk(4)
                    memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
                    hidden = o.sigmoid() * memory.tanh()
                    rows.append(hidden + row if layer else hidden)
                outputs = torch.stack(rows)
            logits = outputs @ weights["softmax"].T + weights["softmaxBias"].flatten()
            return torch.nn.functional.cross_entropy(logits, torch.tensor(ids[1:]), reduction="sum")

        losses = {"forward": loss("forward", SENTENCE), "backward": loss("backward", SENTENCE[::-1])}
        sum(losses.values()).backward()
        assert found["losses"] == pytest.approx({side: one.item() for side, one in losses.items()}, rel=1e-12)
        for name, weight in weights.items():
            assert found["gradients"][name] == pytest.approx(weight.grad.flatten().tolist(), rel=1e-9, abs=1e-12), name


def agreement(uses: list[dict], first: set[str]) -> float:
    """How often the nearest other sentence on the map has the same meaning."""
    right = 0
    for use in uses:
        others = [one for one in uses if one["tokens"] != use["tokens"]]
        nearest = min(others, key=lambda one: sum((a - b) ** 2 for a, b in zip(one["at"], use["at"], strict=True)))
        right += bool(first & set(nearest["tokens"])) == bool(first & set(use["tokens"]))
    return right / len(uses)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
def test_two_meanings_of_a_word_move_apart_on_the_map(language: str) -> None:
    """Chance is a half; the weights before training give what the neighboring words have of the meaning."""
    before, after = [], []
    for seed in range(10):
        found = node(TRAINED, {"language": language, "seed": seed, "epochs": 25})
        before.append(agreement(found["before"], FIRST_MEANING[language]))
        after.append(agreement(found["after"], FIRST_MEANING[language]))
    assert sum(share >= 0.9 for share in after) >= 9, after
    assert not any(share >= 0.9 for share in before), before


def test_a_seed_has_one_curve() -> None:
    one, same, other = (node(TRAINED, {"language": "en", "seed": seed, "epochs": 1})["curve"] for seed in (1, 1, 2))
    assert one == same != other
    assert one[-1][0] < one[0][0] and one[-1][1] < one[0][1]
