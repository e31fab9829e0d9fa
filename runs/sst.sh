#!/usr/bin/env bash
# SST-5 with and without ELMo, and the paper's ablations: tables 1 to 3 and figures 1 and 2. The biLM and the static
# vectors are trained on the same text, which includes the task's own training sentences (section 3.4 of the paper).
#   [WORKERS=2] [SEEDS="1 2 3 4 5"] runs/sst.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on. DATA_FOLDER has train.txt.xz, dev.txt and test.txt, one tree per line. If it is
# killed, run it again: it continues. About 4 hours of one core with 3 seeds.
set -euo pipefail
lm_text=$1 data=$2 work=$3
read -ra seeds <<<"${SEEDS:-1 2 3}"
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$work"

sentences() { sed -E 's/\([0-4] //g; s/\)//g; s#\\/#/#g'; }
xz -dc "$data/train.txt.xz" | sentences >"$work/train.txt"
sentences <"$data/dev.txt" >"$work/dev.txt"

[ -d "$work/data" ] || elmo prepare "$work/train.txt" --valid "$work/dev.txt" --vocabulary small-en -o "$work/data"
resume=$([ -f "$work/biLM/config.json" ] && echo --resume || true)
[ -d "$work/biLM/model" ] || elmo finetune --data "$work/data" -o "$work/biLM" $resume
[ -f "$work/word2vec.txt" ] || elmo static "$lm_text" "$work/train.txt" -o "$work/word2vec.txt" --seed 1

# Tables on the sentences alone, in one folder for what they share; the shares of the data with their phrases.
reproduce() {
    local experiment=$1 folder=$work/$2 name=$3
    shift 3
    [ -f "$folder/$experiment.run.json" ] && set -- "$@" --resume
    elmo reproduce "$experiment" sst "$here/configs/tasks/sst.toml" --train "$data/train.txt.xz" --dev "$data/dev.txt" \
        --test "$data/test.txt" --static "$work/word2vec.txt" --model "$work/biLM/model" --cache-dtype float16 \
        --cache "$work/cache" --workers "${WORKERS:-1}" -o "$folder" \
        --seeds "${seeds[@]}" --name "$name" "$@"
}
for experiment in table1 table2 table3 figure2; do
    reproduce "$experiment" sentences "SST-5, trained on sentences" --phrases none --epochs 20
done
reproduce table1 phrases "SST-5, trained on phrases too"
reproduce figure1 phrases "SST-5, trained on phrases too" --shares 1 10 100
