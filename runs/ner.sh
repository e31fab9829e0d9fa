#!/usr/bin/env bash
# NER with ELMo and without, as docs/reproduction.md has it: the biLM and the static vectors have read the same text,
# the task's own training sentences among it.
#   runs/ner.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on; DATA_FOLDER holds train.conll.xz, dev.conll and test.conll. Killed at any
# moment, run it again: it goes on where it was. About 2 hours of one core.
set -euo pipefail
lm_text=$1 data=$2 work=$3
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$work"

sentences() { awk 'NF && $1 != "-DOCSTART-" { printf "%s%s", sep, $1; sep = " " } !NF && sep { print ""; sep = "" }
                   END { if (sep) print "" }'; }
xz -dc "$data/train.conll.xz" | sentences >"$work/train.txt"
sentences <"$data/dev.conll" >"$work/dev.txt"

# Paper, section 3.4: the biLM is fine-tuned to the task's text for an epoch.
[ -d "$work/data" ] ||
    elmo prepare "$work/train.txt" --valid "$work/dev.txt" --vocabulary small-en -o "$work/data"
[ -d "$work/biLM/model" ] ||
    elmo finetune --data "$work/data" -o "$work/biLM" $([ -f "$work/biLM/config.json" ] && echo --resume)
[ -f "$work/word2vec.txt" ] || elmo static "$lm_text" "$work/train.txt" -o "$work/word2vec.txt" --seed 1

train() {
    run=$work/$1 && shift
    elmo task train ner "$here/configs/tasks/ner.toml" --train "$data/train.conll.xz" --dev "$data/dev.conll" \
        --test "$data/test.conll" --static "$work/word2vec.txt" --seeds 1 2 3 -o "$run" \
        $([ -f "$run/run.json" ] && echo --resume) "$@"
}
train baseline --encoder none
train elmo --model small-en --cache "$work/cache"
train elmo-fine-tuned --model "$work/biLM/model" --cache "$work/cache"
