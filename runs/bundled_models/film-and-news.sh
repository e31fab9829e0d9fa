#!/usr/bin/env bash
# A copy of small-en for film reviews and news: half a pass over text of that kind, as the paper fine-tunes its biLM for a
# domain (supplement A.1), and its perplexity before and after on the new text and on the old.
#   runs/bundled_models/film-and-news.sh MODEL TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds licence-unstated/lm-en-modern (film and product reviews, news, web pages, newsgroups) and
# lm-en-modern. The sources of the first state no licence: the copy is for experiments and isn't given away. Killed at any
# moment, run it again: it goes on where it was. Then, where it is WORK_FOLDER/film-and-news:
#   cd WORK_FOLDER && python .../runs/six_tasks/tables.py bilms QUEUE ... --model small-en --bilms film-and-news
set -euo pipefail
model=$1 text=$2 work=$3
new="$text/licence-unstated/lm-en-modern" old="$text/lm-en-modern"
mkdir -p "$work"

[ -d "$work/data" ] ||
    elmo prepare "$new/train.txt.xz" --valid "$new/valid.txt" --vocabulary "$model" -o "$work/data"

if [ ! -d "$work/run/model" ]; then
    begin=(--model "$model" --old "$old/valid.txt.xz" --epochs 0.5 --learning-rate 0.0006 --warmup-steps 100
        --batch-size 128 --unroll-steps 20 --num-negative-samples 2048 --state-reset 0.9 --dropout 0.0
        --product-dtype bfloat16 --seed 1 --evaluate-every 1000 --evaluation-sentences 800 --save-every 100)
    [ -f "$work/run/checkpoints/latest" ] && begin=(--resume)
    elmo finetune --data "$work/data" -o "$work/run" "${begin[@]}"
fi

[ -d "$work/film-and-news" ] ||
    elmo convert "$work/run/model" "$work/film-and-news" --to native --dtype float16
for one in "$model" "$work/film-and-news"; do
    for test in "$new/test.txt" "$old/test.txt.xz"; do
        printf '%s on %s: ' "$(basename "$one")" "$test"
        elmo perplexity "$one" "$test" --json | python -c 'import json, sys; print(json.load(sys.stdin)["mean_perplexity"])'
    done
done
