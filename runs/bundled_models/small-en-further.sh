#!/usr/bin/env bash
# Does small-en gain by reading on? Its fifth edition reads 20 million tokens more of the mixture that it read last, in
# another order, and is averaged with what it began from, in several shares. Nothing of this is bundled: it gained 0.6 %
# on validation text (dev/LOG.md), for which nobody's vectors should change.
#   runs/bundled_models/small-en-further.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds lm-en, lm-en-modern, lm-en-medical and lm-en-tech. Killed at any moment, run it again: it goes on
# where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
fifth="$here/src/elmo/bundled/small-en"
mkdir -p "$work/valid"

if [ ! -d "$work/data" ]; then
    "$here/runs/model_tools/explaining_mixture.sh" "$text" "$work/train.txt"
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

# Perplexities on validation text: those of the fifth edition, of means with it, and of the run's end.
head -n 1500 "$text/lm-en-tech/valid.txt" >"$work/valid/technical.txt"
head -n 1000 "$text/lm-en-medical/valid.txt" >"$work/valid/medical.txt"
xz -dc "$text/lm-en-modern/valid.txt.xz" | shuf -n 1500 --random-source=<(yes 1) >"$work/valid/modern.txt"
for share in 0 0.2 0.3 0.4 0.5 0.7 0.85 1; do
    case $share in
        0) model=$fifth ;;
        1) model="$work/run/model" ;;
        *) model="$work/mean-$share"
            [ -d "$model" ] ||
                python "$here/runs/model_tools/average_models.py" "$fifth" "$work/run/model" "$model" --share "$share" ;;
    esac
    for kind in technical modern medical; do
        record="$work/valid/$kind-$share.json"
        [ -f "$record" ] ||
            { elmo perplexity "$model" "$work/valid/$kind.txt" --json >"$record.part" && mv "$record.part" "$record"; }
        printf '%s %s: ' "$share" "$kind"
        python -c 'import json, sys; print(json.load(open(sys.argv[1]))["mean_perplexity"])' "$record"
    done
done
