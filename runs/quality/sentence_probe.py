"""What vectors know of a sentence's label before a network is trained on them: one linear classifier for each.

    python runs/quality/sentence_probe.py --train F --dev F --test F
                            [--static VECTORS ...] [--model MODEL ...] [--layout tsv]

A sentence is the mean, the maximum and the minimum of its tokens' vectors, each number standardized; the classifier is
multinomial logistic regression, its regularization chosen on the dev data. Prints a Markdown table of accuracies: each
file of static vectors, each layer of each biLM, all its layers side by side, and those beside the last static vectors.
Files are those of `elmo task train sst`. Needs scikit-learn: pip install 'pyelmo[scikit-learn]'.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from elmo import Embedder
from elmo.errors import ElmoError, MissingExtraError, TextError
from elmo.static.vectors import vectors_for_words
from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence, read_labelled

try:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
except ImportError:
    missing = MissingExtraError("scikit-learn", "scikit-learn", "the linear probe")
    print(missing, file=sys.stderr)
    sys.exit(missing.exit_code)

STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03)
PARTS = ("train", "dev", "test")

Sentences = dict[str, list[LabelledSentence]]
Features = dict[str, np.ndarray]


def pooled(vectors: np.ndarray) -> np.ndarray:
    """(tokens, dim) -> (3 dim,)"""
    return np.concatenate([vectors.mean(axis=0), vectors.max(axis=0), vectors.min(axis=0)])


def features(data: Sentences, vectors_of: Callable[[list[str]], np.ndarray]) -> Features:
    """(sentences, 3 dim) of each part."""
    return {part: np.stack([pooled(vectors_of(one.tokens)) for one in data[part]]) for part in PARTS}


def require_labels(data: Sentences) -> None:
    """TextError if there is nothing to tell apart, or a label to be found that is none of the training data's."""
    known = {one.label for one in data["train"]}
    if len(known) < 2:
        raise TextError(f"the training data have one label, {known.pop()!r}, so nothing can be learned. Add others.")
    for part in PARTS:
        for one in data[part]:
            if one.label not in known:
                raise TextError(
                    f"{one.source}:{one.line}: the label {one.label!r} isn't one of the training data's. Correct it."
                )


def accuracy(found: Features, data: Sentences) -> dict[str, float]:
    """Percent right on dev and test, with the regularization that is best on dev."""
    scaler = StandardScaler().fit(found["train"])
    labels = {part: [one.label for one in data[part]] for part in PARTS}
    tried = []
    for strength in STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=300).fit(scaler.transform(found["train"]), labels["train"])
        tried.append({part: 100 * model.score(scaler.transform(found[part]), labels[part]) for part in ("dev", "test")})
    return max(tried, key=lambda scores: scores["dev"])


def of_static(data: Sentences, path: str) -> Features:
    counts = Counter(word for part in PARTS for one in data[part] for word in one.tokens)
    vectors = vectors_for_words(path, limit=1, counts=counts)
    return features(data, vectors.lookup)


def of_bilm(data: Sentences, model: str) -> list[Features]:
    """One for each layer, the token layer first."""
    embedder = Embedder.from_pretrained(model)
    by_part = {part: embedder.embed([one.tokens for one in data[part]]) for part in PARTS}
    layers = range(len(by_part["train"][0]))
    return [
        {part: np.stack([pooled(vectors[layer]) for vectors in by_part[part]]) for part in PARTS} for layer in layers
    ]


def joined(several: Sequence[Features]) -> Features:
    return {part: np.concatenate([one[part] for one in several], axis=1) for part in PARTS}


def probes(data: Sentences, statics: Sequence[str], models: Sequence[str]) -> Iterator[tuple[str, Features]]:
    """Name and features of each line of the table."""
    static = None
    for path in statics:
        static = of_static(data, path)
        yield path, static
    for model in models:
        layers = of_bilm(data, model)
        for number, layer in enumerate(layers):
            yield f"{model}, layer {number}", layer
        yield f"{model}, all layers", joined(layers)
        if static is not None:
            yield f"{model}, all layers, and {statics[-1]}", joined([*layers, static])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for part in PARTS:
        parser.add_argument(f"--{part}", required=True)
    parser.add_argument("--static", nargs="*", default=[])
    parser.add_argument("--model", nargs="*", default=[])
    parser.add_argument("--layout", default="auto")
    parser.add_argument("--label-column", type=int, default=1)
    parser.add_argument("--text-column", type=int, default=2)
    parser.add_argument("--header", action="store_true")
    parser.add_argument("--text-tokenizer", default="whitespace")
    given = vars(parser.parse_args())
    names = ("layout", "label_column", "text_column", "header", "text_tokenizer")
    try:
        settings = ClassifierSettings(**{name: given[name] for name in names})
        data = {part: read_labelled(given[part], settings) for part in PARTS}
        require_labels(data)
        print("| vectors | numbers a sentence | dev | test |\n|---|---|---|---|")
        for name, found in probes(data, given["static"], given["model"]):
            scores = accuracy(found, data)
            print(f"| {name} | {found['train'].shape[1]:,} | {scores['dev']:.1f} | {scores['test']:.1f} |", flush=True)
    except ElmoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
