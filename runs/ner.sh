#!/usr/bin/env bash
# NER with ELMo and without, and the paper's ablations of it: what docs/reproduction.md tells of NER. The static vectors
# have read the same text as the biLM.
#   [WORKERS=2] runs/ner.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on; DATA_FOLDER holds train.conll.xz, dev.conll and test.conll. Killed at any
# moment, run it again: it goes on where it was. Broad Twitter Corpus: 1 h of one core for table 2, 10 min for word2vec.
set -euo pipefail
lm_text=$1 data=$2 work=$3
here=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$work.word2vec.txt" ] || elmo static "$lm_text" -o "$work.word2vec.txt" --seed 1

# One lambda for all, table 2's smaller one, so that the experiments share trainings.
for experiment in table2 table3 figure2 figure1; do
    resume=$([ -f "$work/$experiment.run.json" ] && echo --resume || true)
    shares=$([ "$experiment" = figure1 ] && echo --shares 1 5 10 20 100 || true)
    elmo reproduce "$experiment" ner "$here/configs/tasks/ner.toml" --train "$data/train.conll.xz" \
        --dev "$data/dev.conll" --test "$data/test.conll" --static "$work.word2vec.txt" -o "$work" \
        --mix-penalty 0.001 --workers "${WORKERS:-1}" $shares $resume
done
