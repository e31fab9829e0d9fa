#!/usr/bin/env bash
# The sixth small-en: the fifth one, from its bundled weights, reads 20 million tokens more of the mixture that it read
# last, in another order, and is averaged with what it began from. dev/LOG.md says what was compared.
#   runs/small-en-6.sh FIFTH TEXT_FOLDER WORK_FOLDER
# FIFTH is the fifth small-en (`git show 96fbc75:src/elmo/bundled/small-en/...`, content hash 9c613272); TEXT_FOLDER holds
# lm-en, lm-en-modern, lm-en-medical and lm-en-tech. Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
fifth=$1 text=$2 work=$3
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$work"

if [ ! -d "$work/data" ]; then
    "$here/runs/explaining_mixture.sh" "$text" "$work/train.txt"
    elmo prepare "$work/train.txt" --valid "$text/lm-en/valid.txt.xz" "$text/lm-en-modern/valid.txt.xz" \
        --vocabulary "$fifth" -o "$work/data"
fi

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$fifth" --epochs 10 --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9
        --dropout 0.0 --product-dtype bfloat16 --evaluation-sentences 800 --save-every 200 --max-steps 8000
        --learning-rate 0.0008 --warmup-steps 300 --seed 10 --evaluate-every 2000 --comparison-sentences 600)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi
