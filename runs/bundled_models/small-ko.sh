#!/usr/bin/env bash
# The reference run of the bundled Korean model: text -> data -> biLM -> model folder, with perplexities beside n-grams.
#   runs/bundled_models/small-ko.sh TEXT_FOLDER WORK_FOLDER
# TEXT_FOLDER holds train.txt.xz, valid.txt and test.txt, one sentence a line, eojeols with punctuation split off (1.6 M
# tokens in train). Killed at any moment, run it again: it goes on where it was.
set -euo pipefail
text=$1 work=$2
here=$(cd "$(dirname "$0")/../.." && pwd)

[ -d "$work/data" ] || elmo prepare "$text/train.txt.xz" --valid "$text/valid.txt" --vocab-size 30000 -o "$work/data"

[ -d "$work/run/model" ] ||
    elmo pretrain "$here/configs/pretrain/small-ko.toml" --data "$work/data" -o "$work/run" --resume-if-begun

[ -d "$work/small-ko" ] || elmo convert "$work/run/model" "$work/small-ko" --to native --dtype float16

for part in valid test; do
    elmo perplexity "$work/small-ko" "$text/$part.txt" --json >"$work/perplexity-$part.json"
done
for order in 3 5; do
    python "$here/runs/quality/kneser_ney.py" --train "$text/train.txt.xz" --test "$text/valid.txt" --test "$text/test.txt" \
        --vocabulary "$work/data/vocab.txt" --order "$order" --json "$work/kneser-ney-$order.json" >/dev/null
done
cat "$work"/perplexity-*.json "$work"/kneser-ney-*.json
