#!/usr/bin/env bash
# The reference run of the bundled model: text -> data -> biLM -> model folder, with perplexities beside an n-gram model.
#   runs/bundled_models/small-en.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds train.txt.xz, valid.txt.xz and test.txt.xz, one tokenized sentence a line (21.4 M tokens in train).
# Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)

[ -d "$work/data" ] || elmo prepare "$text/train.txt.xz" --valid "$text/valid.txt.xz" --vocab-size 30000 -o "$work/data"

if [ ! -d "$work/run/model" ]; then
    resume=()
    [ -f "$work/run/checkpoints/latest" ] && resume=(--resume)
    elmo pretrain "$here/configs/pretrain/small-en.toml" --data "$work/data" -o "$work/run" "${resume[@]}"
fi

# A second stage on the same text in another order, from the finished model and with a falling rate of its own.
if [ ! -d "$work/more/model" ]; then
    resume=()
    [ -f "$work/more/checkpoints/latest" ] && resume=(--resume)
    elmo finetune --model "$work/run/model" --data "$work/data" -o "$work/more" --max-steps 3600 --learning-rate 0.001 \
        --warmup-steps 100 --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0 \
        --product-dtype bfloat16 --seed 2 --comparison-sentences 1500 --evaluate-every 1200 "${resume[@]}"
fi

[ -d "$work/small-en" ] || elmo convert "$work/more/model" "$work/small-en" --to native --dtype float16

for part in valid test; do
    elmo perplexity "$work/small-en" "$text/$part.txt.xz" --json >"$work/perplexity-$part.json"
done
python "$here/runs/quality/kneser_ney.py" --train "$text/train.txt.xz" --test "$text/valid.txt.xz" --test "$text/test.txt.xz" \
    --vocabulary "$work/data/vocab.txt" --order 3 --json "$work/kneser-ney-3.json" >/dev/null
cat "$work"/perplexity-*.json "$work/kneser-ney-3.json"
