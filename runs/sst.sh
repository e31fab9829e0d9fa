#!/usr/bin/env bash
# SST-5 with ELMo and without, and the paper's ablations of it: what docs/reproduction.md tells of SST-5. biLM and static
# vectors have read the same text, the task's own training sentences among it (paper, section 3.4).
#   [WORKERS=2] runs/sst.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on; DATA_FOLDER holds train.txt.xz, dev.txt and test.txt, a tree a line. Killed at
# any moment, run it again: it goes on where it was. About 4 hours of one core.
set -euo pipefail
lm_text=$1 data=$2 work=$3
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$work"

sentences() { sed -E 's/\([0-4] //g; s/\)//g; s#\\/#/#g'; }
xz -dc "$data/train.txt.xz" | sentences >"$work/train.txt"
sentences <"$data/dev.txt" >"$work/dev.txt"

[ -d "$work/data" ] || elmo prepare "$work/train.txt" --valid "$work/dev.txt" --vocabulary small-en -o "$work/data"
resume=$([ -f "$work/biLM/config.json" ] && echo --resume || true)
[ -d "$work/biLM/model" ] || elmo finetune --data "$work/data" -o "$work/biLM" $resume
[ -f "$work/word2vec.txt" ] || elmo static "$lm_text" "$work/train.txt" -o "$work/word2vec.txt" --seed 1

# Tables on the sentences alone, in one folder for what they share; the shares of the data with their phrases.
reproduce() {
    local experiment=$1 folder=$work/$2
    shift 2
    [ -f "$folder/$experiment.run.json" ] && set -- "$@" --resume
    elmo reproduce "$experiment" sst "$here/configs/tasks/sst.toml" --train "$data/train.txt.xz" --dev "$data/dev.txt" \
        --test "$data/test.txt" --static "$work/word2vec.txt" --model "$work/biLM/model" --cache-dtype float16 \
        --cache "$work/cache" --workers "${WORKERS:-1}" -o "$folder" "$@"
}
for experiment in table2 table3 figure2; do reproduce "$experiment" sentences --phrases none --epochs 20; done
reproduce figure1 phrases --shares 1 10 100
