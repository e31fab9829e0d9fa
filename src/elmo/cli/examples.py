"""Command lines that each verb's --help shows, in one place: tests/test_cli_help.py reads every one of them."""

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[str]] = {
    "embed": (
        "elmo embed corpus.txt -o vectors.h5 --layers average",
        "elmo embed letters.csv --field body --sentences within-lines -o vectors.parquet",
        "elmo embed corpus.txt -o vectors.h5 --layers average --workers 4",
        "elmo embed proteins.fasta -o vectors.h5 --model seqvec --layers 1,1,1 --pool mean",
        'elmo embed "The bank was steep ."',
    ),
    "models": ("elmo models",),
    "download": ("elmo download original", "elmo download many-langs/ko"),
    "inspect": ("elmo inspect small-en",),
    "convert": (
        "elmo convert elmo_weights.hdf5 my-model --options elmo_options.json",
        "elmo convert my-model for-allennlp --to allennlp",
    ),
    "prepare": (
        "elmo prepare corpus.txt -o my-data --vocab-size 20000 --valid-share 0.01",
        "elmo prepare domain.txt --valid domain-valid.txt --vocabulary small-en -o domain-data",
    ),
    "pretrain": (
        "elmo pretrain configs/pretrain/small.toml --data my-data -o my-run",
        "elmo pretrain --data my-data -o my-run --resume",
    ),
    "finetune": ("elmo finetune --model small-en --data domain-data --old corpus-test.txt -o domain-run",),
    "static": ("elmo static corpus.txt -o vectors.txt",),
    "perplexity": (
        "elmo perplexity corpus-test.txt",
        "elmo perplexity my-run/model corpus-test.txt --per-sentence",
    ),
    "scores": ("elmo scores small-en corpus-test.txt",),
    "substitutes": ('elmo substitutes "He went to the [bank] ."',),
    "task": (
        "elmo task train ner --train train.conll -o tagger",
        "elmo task predict tagger text.txt",
    ),
    "task train": ("elmo task train ner --train train.conll --test test.conll -o tagger --seeds 1 2 3",),
    "task evaluate": ("elmo task evaluate tagger test.conll -o predictions.conll",),
    "task predict": (
        "elmo task predict tagger text.txt",
        "elmo task predict tagger 'letters/*.txt' --json -o found.jsonl",
        "elmo task predict tagger - --tokenizer unicode --json",
    ),
    "task score": ("elmo task score ner test.conll predictions.conll",),
    "index": ("elmo index corpus.txt -o my-index",),
    "neighbors": ('elmo neighbors my-index "The [spring] of the year is warm ."',),
    "explore": (
        "elmo explore",
        "elmo explore --model my-run/model --text corpus.txt --sample",
        "elmo explore --export my-page",
        "elmo explore --model small-en --single-file my-page.html",
    ),
    "serve": (
        "elmo serve",
        "elmo serve small-en small-ko --port 8080",
    ),
    "doctor": ("elmo doctor",),
}  # fmt: skip


def examples_of(verb: str, examples: Mapping[str, Sequence[str]] = EXAMPLES) -> str:
    """The examples of a verb, indented below a heading; `verb` may go on, as in "task train ner"."""
    words = verb.split()
    known = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    lines = examples[next(name for name in known if name in examples)]
    return "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
