#!/usr/bin/env bash
# The third small-ko: the projections of the second one grow from 128 to 256 values in each direction, and it reads on, in a
# mixture with more kinds of text. Stored in int8. It predicts the entries that the second one predicted.
#   runs/bundled_models/small-ko-3.sh TEXT_FOLDER WORK_FOLDER [STEPS]
# TEXT_FOLDER holds lm-ko, lm-ko-more and lm-ko-2, each with train.txt.xz, valid.txt, test.txt and a manifest. The second
# edition is that of commit cc00f30; SECOND names its folder. 8,400 STEPS of 128 x 20 tokens are a pass.
# Killed at any moment, run it again: it goes on where it was. Its last step was brought forward, from 4,000 to 2,100 after
# 613 steps and to 1,850 after 1,130, by editing max_steps in config.json and finetune.json. The mean with the start
# (runs/model_tools/average_models.py, share 0.85) was as good on validation text. small-ko-3-further.sh read on, twice.
set -euo pipefail
text=$1 work=$2 steps=${3:-4000} second=${SECOND:-small-ko}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work"

prepared() { # VOCABULARY OUT
    elmo prepare "$work/train.txt" --valid "$text/lm-ko/valid.txt" "$text/lm-ko-more/valid.txt" --vocabulary "$1" -o "$2"
}

# The encyclopedia is four fifths of the text there is, and stories are what homonyms need.
if [ ! -f "$work/train.txt" ]; then
    shares=(97danielj=0.5 Bullskc=0.3 xxyy89890=0.5 warnikchow=2 mozilla=2 storidient=4 statkclee/satKorean=4 jungyeul=4)
    python "$here/runs/model_tools/mix_corpora.py" "$work/train.txt" "$text/lm-ko" "$text/lm-ko" "$text/lm-ko" "$text/lm-ko-more" \
        "$text/lm-ko-2" "${shares[@]/#/--share=}"
fi
[ -d "$work/wide" ] || python "$here/runs/model_tools/grow_projections.py" "$second" "$work/wide" --projection-size 256
if [ ! -d "$work/data" ]; then
    prepared "$work/wide" "$work/data-unordered"
    python "$here/runs/model_tools/order_vocabulary.py" "$work/data-unordered" "$work/vocab.txt"
    prepared "$work/vocab.txt" "$work/data"
fi
[ -d "$work/start" ] || python "$here/runs/model_tools/grow_vocabulary.py" "$work/wide" "$work/data" "$work/start"

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$work/start" --epochs 10 --max-steps "$steps" --learning-rate 0.001 --warmup-steps 100
        --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.05
        --product-dtype bfloat16 --seed 10 --evaluate-every 500 --evaluation-sentences 300 --comparison-sentences 600
        --save-every 100)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi
