#!/usr/bin/env bash
# Named entities with and without ELMo, and the paper's ablations: tables 1 to 3 and figures 1 and 2. The static vectors
# are trained on the same text as the biLM.
#   [WORKERS=2] [SEEDS="1 2 3 4 5"] [NAME="My corpus"] runs/ner.sh LM_TEXT DATA_FOLDER WORK_FOLDER
# LM_TEXT is what small-en was trained on. DATA_FOLDER has train.conll.xz, dev.conll and test.conll: of the Broad Twitter
# Corpus without the tags of handles (btc-names), because with them "@" is most of the score (docs/reproduction.md).
# If it is killed, run it again: it continues. About 1 hour of one core for table 2 with 3 seeds, 10 minutes for word2vec.
set -euo pipefail
lm_text=$1 data=$2 work=$3
read -ra seeds <<<"${SEEDS:-1 2 3}"
here=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$work.word2vec.txt" ] || elmo static "$lm_text" -o "$work.word2vec.txt" --seed 1

# One lambda for all, table 2's smaller one, so that the experiments share trainings. Epochs are chosen by macro F1,
# so that the most frequent label doesn't choose them alone.
for experiment in table1 table2 table3 figure2 figure1; do
    resume=$([ -f "$work/$experiment.run.json" ] && echo --resume || true)
    shares=$([ "$experiment" = figure1 ] && echo --shares 1 5 10 20 100 || true)
    elmo reproduce "$experiment" ner "$here/configs/tasks/ner.toml" --train "$data/train.conll.xz" \
        --dev "$data/dev.conll" --test "$data/test.conll" --static "$work.word2vec.txt" -o "$work" \
        --mix-penalty 0.001 --best-by macro_f1 --seeds "${seeds[@]}" --name "${NAME:-Broad Twitter Corpus}" \
        --workers "${WORKERS:-1}" $shares $resume
done
