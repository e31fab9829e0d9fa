#!/usr/bin/env bash
# The next small-en, from text to model folder, with perplexities by source beside an n-gram model.
#   runs/bundled_models/small-en-2.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds the sets lm-en (21 M tokens, three quarters of them old books) and lm-en-modern (35 M), each with
# train.txt.xz, valid.txt.xz, test.txt.xz and a manifest. A quarter of the old books is taken, and everything else.
# Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"

if [ ! -d "$work/data" ]; then
    python "$here/runs/model_tools/mix_corpora.py" "$work/train.txt" "$text/lm-en" "$text/lm-en-modern" \
        --share mlschmitt/classic-books-markdown=0.25
    elmo prepare "$work/train.txt" --valid "$text/lm-en/valid.txt.xz" "$text/lm-en-modern/valid.txt.xz" \
        --vocab-size 30000 -o "$work/data"
fi

# From the bundled model with the new text's vocabulary, not from random weights: a pass is 17,700 steps.
# (configs/pretrain/small-en-2.toml is the recipe that begins with random weights, and needs four times as many.)
[ -d "$work/grown" ] || python "$here/runs/model_tools/grow_vocabulary.py" small-en "$work/data" "$work/grown"

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$work/grown" --max-steps 17700 --learning-rate 0.0015 --warmup-steps 200 --batch-size 128
        --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.0 --product-dtype bfloat16 --seed 5
        --evaluate-every 1000 --evaluation-sentences 800 --comparison-sentences 600 --save-every 100)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi

for set in lm-en lm-en-modern; do
    manifest=$(ls "$text/$set"/manifest.tsv*)
    for part in valid test; do
        python "$here/runs/quality/perplexity_by_source.py" "$work/run/model" "$text/$set/$part.txt.xz" "$manifest" \
            >"$work/perplexity-$set-$part.json"
    done
done
python "$here/runs/quality/kneser_ney.py" --train "$work/train.txt" --order 5 --vocabulary "$work/data/vocab.txt" \
    --test "$text/lm-en/test.txt.xz" --test "$text/lm-en-modern/test.txt.xz" --json "$work/kneser-ney-5.json" >/dev/null
python "$here/runs/quality/two_sense_words.py" --model "$work/run/model" >"$work/two-sense-words.md"
cat "$work"/perplexity-*.json "$work/kneser-ney-5.json" "$work/two-sense-words.md"
