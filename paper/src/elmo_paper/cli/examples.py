"""Command lines that each verb's --help shows; the tests of the command line read every one of them."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "reproduce": (
        "elmo-paper reproduce table2 ner --train train.conll --test test.conll -o ablations --seeds 1 2 3",
    ),
    "wsd": (
        "elmo-paper wsd --train semcor.data.xml --test senseval2.data.xml --inventory senses.tsv",
    ),
    "pos": ("elmo-paper pos --train train.conllu --dev dev.conllu --test test.conllu --encoder cove=my-cove",),
    "precision": ("elmo-paper precision semcor.data.xml --random",),
    "geometry": ("elmo-paper geometry corpus-test.txt --random",),
    "glove": ("elmo-paper glove corpus.txt -o vectors.txt",),
    "mssg": ("elmo-paper mssg corpus.txt -o senses.txt",),
    "context2vec": ("elmo-paper context2vec corpus.txt -o my-context2vec --unit 100 --epochs 1",),
    "cove": ("elmo-paper cove en.txt de.txt --dev dev.en dev.de --vectors vectors.txt -o my-cove",),
}  # fmt: skip
