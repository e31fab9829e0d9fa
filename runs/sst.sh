#!/usr/bin/env bash
# SST-5 with ELMo and without, and the paper's table 2 of it: what docs/reproduction.md tells of SST-5. biLM and static
# vectors have read the same text, the task's own training sentences among it (paper, section 3.4).
#   runs/sst.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on; DATA_FOLDER holds train.txt.xz, dev.txt and test.txt, a tree a line. Killed at
# any moment, run it again: it goes on where it was. About 2 h of one core.
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

resume=$([ -f "$work/tables/table2.run.json" ] && echo --resume || true)
elmo reproduce table2 sst "$here/configs/tasks/sst.toml" --train "$data/train.txt.xz" --dev "$data/dev.txt" \
    --test "$data/test.txt" --static "$work/word2vec.txt" --model "$work/biLM/model" --cache-dtype float16 \
    -o "$work/tables" $resume
