"""Command lines that each verb's --help shows; the tests of the command line read every one of them."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "reproduce": (
        "elmo-paper reproduce table2 ner --train train.conll --test test.conll -o ablations --seeds 1 2 3",
    ),
    "reproduce table4": (
        "elmo-paper reproduce table4 precision.json",
        'elmo-paper reproduce table4 my-index "Chico Ruiz made a spectacular [play] ."',
    ),
    "reproduce table5": (
        "elmo-paper reproduce table5 wsd.json",
        "elmo-paper reproduce table5 --train semcor.data.xml --test senseval2.data.xml --inventory senses.tsv",
    ),
    "reproduce table6": (
        "elmo-paper reproduce table6 pos.json",
        "elmo-paper reproduce table6 --train train.conllu --dev dev.conllu --test test.conllu",
    ),
}  # fmt: skip
