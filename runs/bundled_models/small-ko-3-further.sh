#!/usr/bin/env bash
# Reads on in the mixture of runs/bundled_models/small-ko-3.sh, whose WORK_FOLDER/train.txt and data it shares.
#   [MODEL=small-ko] runs/bundled_models/small-ko-3-further.sh WORK_FOLDER [STEPS]
# Two such readings gave the third edition: 3,900 steps (2026-11-25) and 3,200 (2026-11-26), each from the weights of the
# one before; their last steps had been planned as 6,000 and 4,000. Killed at any moment, run it again: it goes on where it
# was. What comes out is shipped by
#   python runs/model_tools/ship_model.py WORK_FOLDER/further/model src/elmo/bundled/small-ko WORK_FOLDER/train.txt
# Beside other busy processes, give it a core of its own: nice alone does nothing between sessions where the kernel
# groups processes by session (echo 0 >/proc/sys/kernel/sched_autogroup_enabled, before they start).
set -euo pipefail
work=$1 steps=${2:-6000}

begin=(--model "${MODEL:-small-ko}" --epochs 10 --max-steps "$steps" --learning-rate 0.0007 --warmup-steps 150
    --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.05
    --product-dtype bfloat16 --seed 12 --evaluate-every 500 --evaluation-sentences 300 --comparison-sentences 600
    --save-every 250)
[ -f "$work/further/checkpoints/latest" ] && begin=(--resume)
elmo finetune --data "$work/data" -o "$work/further" "${begin[@]}"
