#!/usr/bin/env bash
# Reads on from runs/small-ko-3, in the mixture of runs/small-ko-3.sh, whose WORK_FOLDER/train.txt and data it shares.
#   runs/small-ko-3-further.sh WORK_FOLDER [STEPS]
# The first such reading, from the weights after 1,850 steps, had 3,900 (2026-11-25): its last step was brought forward,
# from 6,000 to 4,600 after 785 steps and to 3,900 after 1,848. Killed at any moment, run it again: it goes on where it was. What comes out is stored by
#   python runs/ship_model.py WORK_FOLDER/further/model runs/small-ko-3 WORK_FOLDER/train.txt
# Beside other busy processes, give it a core of its own: nice alone does nothing between sessions where the kernel
# groups processes by session (echo 0 >/proc/sys/kernel/sched_autogroup_enabled, before they start).
set -euo pipefail
work=$1 steps=${2:-6000}
here=$(cd "$(dirname "$0")/.." && pwd)

begin=(--model "$here/runs/small-ko-3" --epochs 10 --max-steps "$steps" --learning-rate 0.0007 --warmup-steps 150
    --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.05
    --product-dtype bfloat16 --seed 12 --evaluate-every 500 --evaluation-sentences 300 --comparison-sentences 600
    --save-every 250)
[ -f "$work/further/checkpoints/latest" ] && begin=(--resume)
elmo finetune --data "$work/data" -o "$work/further" "${begin[@]}"
