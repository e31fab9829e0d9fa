#!/usr/bin/env bash
# The next small-ko: the bundled one trained on, with new text and beginnings among its targets; figures beside n-grams.
#   runs/bundled_models/small-ko-2.sh TEXT_FOLDER WORK_FOLDER [STEPS]
# TEXT_FOLDER holds the sets lm-ko (1.6 M tokens, mostly film reviews) and lm-ko-more (7 M, mostly an encyclopedia), each
# with train.txt.xz, valid.txt, test.txt and a manifest. lm-ko is read twice as often.
# STEPS of 64 x 20 tokens; 8,000 are a pass. Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2 steps=${3:-8000}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"

if [ ! -d "$work/data" ]; then
    python "$here/runs/model_tools/mix_corpora.py" "$work/train.txt" "$text/lm-ko" "$text/lm-ko" "$text/lm-ko-more"
    elmo prepare "$work/train.txt" --valid "$text/lm-ko/valid.txt" "$text/lm-ko-more/valid.txt" \
        --vocab-size 30000 --num-beginnings 8000 -o "$work/data"
fi
[ -d "$work/grown" ] || python "$here/runs/model_tools/grow_vocabulary.py" small-ko "$work/data" "$work/grown"

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$work/grown" --max-steps "$steps" --learning-rate 0.0015 --warmup-steps 100 --batch-size 64
        --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.1 --product-dtype bfloat16 --seed 3
        --evaluate-every 500 --evaluation-sentences 400 --comparison-sentences 600 --save-every 100)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi
[ -d "$work/small-ko" ] || elmo convert "$work/run/model" "$work/small-ko" --to native --dtype float16

for set in lm-ko lm-ko-more; do
    manifest=$(ls "$text/$set"/manifest.tsv*)
    for part in valid test; do
        python "$here/runs/quality/perplexity_by_source.py" "$work/small-ko" "$text/$set/$part.txt" "$manifest" \
            >"$work/perplexity-$set-$part.json"
    done
done
python "$here/runs/quality/kneser_ney.py" --train "$work/train.txt" --order 5 --vocabulary "$work/data/vocab.txt" \
    --test "$text/lm-ko/test.txt" --test "$text/lm-ko-more/test.txt" --json "$work/kneser-ney-5.json" >/dev/null
cat "$work"/perplexity-*.json "$work/kneser-ney-5.json"
