#!/usr/bin/env bash
# The third small-en: the second one reads the same text once more, from beginning to end.
#   runs/bundled_models/small-en-3.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER is that of small-en-2.sh, with lm-en-medical and lm-en-tech beside the others. The second edition is
# taken from this repository's history. Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"

second_edition=7d608a0 # the commit that bundled it
[ -d "$work/small-en-2" ] || {
    mkdir -p "$work/history"
    git -C "$here" archive "$second_edition" src/elmo/bundled/small-en | tar -x -C "$work/history"
    mv "$work/history/src/elmo/bundled/small-en" "$work/small-en-2"
}

if [ ! -d "$work/data" ]; then
    python "$here/runs/model_tools/mix_corpora.py" "$work/train.txt" "$text/lm-en" "$text/lm-en-modern" \
        --share mlschmitt/classic-books-markdown=0.25
    elmo prepare "$work/train.txt" --valid "$text/lm-en/valid.txt.xz" "$text/lm-en-modern/valid.txt.xz" \
        --vocabulary "$work/small-en-2" -o "$work/data"
fi

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$work/small-en-2" --epochs 1 --learning-rate 0.0015 --warmup-steps 200 --batch-size 128
        --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.0 --product-dtype bfloat16 --seed 6
        --evaluate-every 1000 --evaluation-sentences 800 --comparison-sentences 600 --save-every 100)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi

[ -d "$work/small-en" ] || elmo convert "$work/run/model" "$work/small-en" --to native --dtype float16
"$here/runs/quality/english_perplexities.sh" "$work/small-en" "$text" "$work"
python "$here/runs/quality/two_sense_words.py" --model "$work/small-en-2" --model "$work/small-en"
