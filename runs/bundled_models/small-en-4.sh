#!/usr/bin/env bash
# The fourth small-en: the projections of the third one grow from 128 to 256 values in each direction, and it reads on. Stored
# in int8, it is as large as the third one in float16.
#   runs/bundled_models/small-en-4.sh TEXT_FOLDER WORK_FOLDER
# Both are those of small-en-3.sh. Killed at any moment, run it again: it goes on where it was. Its last step was
# brought forward after 3,642 steps, from 16,000 to 15,000, by editing max_steps in config.json and finetune.json.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)

# Predicts at first what the narrow model predicted.
[ -d "$work/wide" ] || python "$here/runs/model_tools/grow_projections.py" "$work/run/model" "$work/wide" --projection-size 256

if [ ! -d "$work/wide-run/model" ]; then
    begin=(--model "$work/wide" --epochs 10 --max-steps 15000 --learning-rate 0.0008 --warmup-steps 300
        --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.0
        --product-dtype bfloat16 --seed 7 --evaluate-every 1000 --evaluation-sentences 800 --comparison-sentences 600
        --save-every 100)
    [ -f "$work/wide-run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/wide-run" "${begin[@]}"
fi

[ -d "$work/small-en-4" ] || elmo convert "$work/wide-run/model" "$work/small-en-4" --to native --dtype int8
"$here/runs/quality/english_perplexities.sh" "$work/small-en-4" "$text" "$work/measures-4"
python "$here/runs/quality/two_sense_words.py" --model "$work/small-en" --model "$work/small-en-4"
