#!/usr/bin/env bash
# The fifth small-en: the fourth one reads on, in the mixture of explaining_mixture.sh. dev/LOG.md says what was compared.
#   runs/bundled_models/small-en-5.sh TEXT_FOLDER WORK_FOLDER
# Both are those of small-en-4.sh. Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)

prepared() { # NUMBER: the training text -> data-NUMBER
    elmo prepare "$work/train-$1.txt" --valid "$text/lm-en/valid.txt.xz" "$text/lm-en-modern/valid.txt.xz" \
        --vocabulary "$work/small-en-4" -o "$work/data-$1"
}

read_on() { # NUMBER OPTIONS: data-NUMBER -> run-NUMBER
    local begin=("${@:2}" --epochs 10 --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9
        --dropout 0.0 --product-dtype bfloat16 --evaluation-sentences 800 --save-every 200)
    [ -f "$work/run-$1/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data-$1" -o "$work/run-$1" "${begin[@]}"
}

if [ ! -d "$work/data-5" ]; then
    "$here/runs/model_tools/explaining_mixture.sh" "$text" "$work/train-5.txt"
    prepared 5
fi

[ -d "$work/run-5/model" ] ||
    read_on 5 --model "$work/wide-run/model" --max-steps 24000 --learning-rate 0.0008 --warmup-steps 300 --seed 8 \
        --evaluate-every 2000 --comparison-sentences 600

[ -d "$work/mean-5" ] ||
    python "$here/runs/model_tools/average_models.py" "$work/wide-run/model" "$work/run-5/model" "$work/mean-5" --share 0.85

if [ ! -d "$work/data-6" ]; then
    shares=(mlschmitt=0.03 parleh-mate=0.1 SarahFranzen=0.1 standardebooks=0.2 "nltk/nltk_data state_union=0.2"
        "nltk/nltk_data inaugural=0.2" ZhouYii=0.25 Yale-LILY=0.3 alexa=0.3 scp-data=0.3 R030t1=0.3 HistoryAtState=0.3
        factbook=0.3 global-asp=0.3 google-research-datasets=0.5 GSA/digitalgov=2 UCDenver=2 "nltk/nltk_data masc=2"
        18F/=3 openstax/osbooks-college-physics=3 openstax/osbooks-chemistry=3 carpentries=4 alphagov=4
        creativecommons=4 bitcoinops=5 github/opensource=5 ropensci=6 rust-lang=8)
    python "$here/runs/model_tools/mix_corpora.py" "$work/whole-6.txt" "$text/lm-en" "$text/lm-en-modern" \
        "${shares[@]/#/--share=}"
    head -n 420000 "$work/whole-6.txt" >"$work/train-6.txt"
    prepared 6
fi

[ -d "$work/run-6/model" ] ||
    read_on 6 --model "$work/mean-5" --max-steps 2600 --learning-rate 0.0004 --warmup-steps 100 --seed 9 \
        --evaluate-every 100000 --comparison-sentences 300

[ -d "$work/mean-6" ] ||
    python "$here/runs/model_tools/average_models.py" "$work/mean-5" "$work/run-6/model" "$work/mean-6" --share 0.4

[ -d "$work/small-en-5" ] ||
    python "$here/runs/model_tools/ship_model.py" "$work/mean-6" "$work/small-en-5" "$work/train-5.txt" --metadata \
        text_tokens=54874425 tokens_read=68096000 "finetuned_from=small-en of 2026-11-23, its fourth edition"
"$here/runs/quality/english_perplexities.sh" "$work/small-en-5" "$text" "$work/measures-5"
python "$here/runs/quality/two_sense_words.py" --model "$work/small-en-4" --model "$work/small-en-5"
