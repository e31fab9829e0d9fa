#!/usr/bin/env bash
# The reference run of the bundled model: text -> data -> biLM -> model folder, with perplexities beside an n-gram model.
#   runs/small-en.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds train.txt.xz, valid.txt.xz and test.txt.xz, one tokenized sentence a line (21.4 M tokens in train).
# Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/.." && pwd)

[ -d "$work/data" ] || elmo prepare "$text/train.txt.xz" --valid "$text/valid.txt.xz" --vocab-size 30000 -o "$work/data"

if [ ! -d "$work/run/model" ]; then
    resume=()
    [ -f "$work/run/checkpoints/latest" ] && resume=(--resume)
    elmo pretrain "$here/configs/pretrain/small-en.toml" --data "$work/data" -o "$work/run" "${resume[@]}"
fi

[ -d "$work/small-en" ] || elmo convert "$work/run/model" "$work/small-en" --to native --dtype float16

for part in valid test; do
    elmo perplexity "$work/small-en" "$text/$part.txt.xz" --json >"$work/perplexity-$part.json"
done
python "$here/runs/kneser_ney.py" --train "$text/train.txt.xz" --test "$text/valid.txt.xz" --test "$text/test.txt.xz" \
    --vocabulary "$work/data/vocab.txt" --order 3 --json "$work/kneser-ney-3.json" >/dev/null
cat "$work"/perplexity-*.json "$work/kneser-ney-3.json"
