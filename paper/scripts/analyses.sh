#!/usr/bin/env bash
# All analyses of one model: a record and a table of each, the paper's tables 4 to 6 below them.
#   [LANGUAGE=ko] paper/scripts/analyses.sh MODEL OUT DATA
# MODEL is a name, a folder or a hub id. DATA has, for English:
#   lm-en/{train,test}.txt.xz           one tokenized sentence a line: static vectors learn from train, test is measured
#   wsd/semcor/semcor.data.xml.xz       SemCor in the format of Raganato et al. 2017, its keys beside it
#   wsd/sense-inventory.tsv.xz          senses with the columns lemma, pos, rank, sense_key, semcor_count
#   wsd-raganato/*.data.xml             test sets in the same format, and semeval2007 to choose k of k-NN on
#   pos/ud-en-ewt/{train,dev,test}.conllu.xz
# and for Korean lm-ko/train.txt.xz, lm-ko/test.txt and ko/pos-kaist/{train,dev,test}.conllu.xz; of that train, every sixth
# sentence is used. Static vectors are made of lm-en/train or lm-ko/train, unless OUT/static-{en,ko}.txt is there already.
# TESTS names the folder of the test sets, if it is another one. English is also compared with context2vec, trained on the
# first CONTEXT2VEC lines of train (250,000; 0: leave it out), with MSSG, and, if DATA has the pairs of sentences
# mt/multi30k-en-de/{train.{en,de}.xz,{dev,test}.{en,de}}, with CoVe, trained on them for at most COVE epochs (30; 0:
# leave it out). If it is killed, run it again: what was written is kept, and CoVe's training goes
# on. About an hour of one core, a quarter of it each for static vectors and context2vec; CoVe takes two more. Then:
# elmo-paper pages OUT/*.json
set -euo pipefail
model=$1 out=$2 data=$3
language=${LANGUAGE:-en}
mkdir -p "$out"
name=$(basename "$model")

# analysis NAME ARGUMENTS...: OUT/ANALYSIS-MODEL.json and its table, unless the record is there already.
analysis() {
    local record="$out/$1-$name.json"
    [ -f "$record" ] && return
    if [ "$1" = neighbors ]; then command=(elmo); else command=(elmo-paper); fi
    "${command[@]}" "$@" --model "$model" -o "$record" >"$out/$1-$name.txt"
    cat "$out/$1-$name.txt"
}

static="$out/static-$language.txt"
[ -f "$static" ] || elmo static "$data/lm-$language/train.txt.xz" -o "$static" --seed 1
controls=(--static "$static" --random)

systems=()
lines=${CONTEXT2VEC:-250000}
if [ "$language" = en ] && [ "$lines" -gt 0 ]; then
    if [ ! -d "$out/context2vec-en" ]; then
        # xz and head end early on purpose.
        (set +o pipefail; xz -dc "$data/lm-en/train.txt.xz" | head -n "$lines") >"$out/context2vec-en.txt"
        elmo-paper context2vec "$out/context2vec-en.txt" -o "$out/context2vec-en" --unit 100 --epochs 1
    fi
    systems+=("context2vec=$out/context2vec-en")
fi
if [ "$language" = en ]; then
    senses="$out/senses-en.txt"
    [ -f "$senses" ] || elmo-paper mssg "$data/lm-$language/train.txt.xz" -o "$senses" --seed 1
    systems+=("mssg=$senses")
fi

pairs="$data/mt/multi30k-en-de" epochs=${COVE:-30}
if [ "$language" = en ] && [ "$epochs" -gt 0 ] && [ -d "$pairs" ]; then
    if [ ! -f "$out/cove-en.txt" ]; then
        resume=()
        [ -d "$out/cove-en/training" ] && resume=(--resume)
        elmo-paper cove "$pairs"/train.{en,de}.xz --dev "$pairs"/dev.{en,de} --test "$pairs"/test.{en,de} \
            --vectors "$static" -o "$out/cove-en" --cells 150 --min-count 2 --epochs "$epochs" --json "${resume[@]}" \
            >"$out/cove-en.unfinished"
        mv "$out/cove-en.unfinished" "$out/cove-en.txt"
    fi
    systems+=("cove=$out/cove-en")
fi
others=(--forward)
[ "${#systems[@]}" -gt 0 ] && others+=(--encoder "${systems[@]}")

if [ "$language" = ko ]; then
    text="$data/lm-ko/test.txt" treebank="$data/ko/pos-kaist" tags=upos train="$out/kaist-train-every-sixth.conllu"
    if [ ! -f "$train" ]; then
        xz -dc "$treebank/train.conllu.xz" | awk 'BEGIN { RS = ""; ORS = "\n\n" } NR % 6 == 1' >"$train.unfinished"
        mv "$train.unfinished" "$train"
    fi
else
    text="$data/lm-en/test.txt.xz" treebank="$data/pos/ud-en-ewt" tags=xpos train="$data/pos/ud-en-ewt/train.conllu.xz"
fi
[ -d "$out/index-$name" ] || elmo index "$text" -o "$out/index-$name" --model "$model"

if [ "$language" = ko ]; then
    analysis neighbors "$out/index-$name" "배우 들 의 [연기를] 보는 재미 가 있다 ." "[연기가] 어색하다 ." --noun 연기 \
        --static "$static"
else
    analysis neighbors "$out/index-$name" "The [spring] of the year is warm ." "Water came from a [spring] in the rock ." \
        "The children [play] in the garden ." "They went to see a [play] at the theater ." --static "$static"
    semcor="$data/wsd/semcor/semcor.data.xml.xz"
    tests=("${TESTS:-$data/wsd-raganato}"/{senseval2,senseval3,semeval2013}.data.xml)
    analysis precision "$semcor" "${controls[@]}" "${others[@]}"
    analysis wsd --train "$semcor" --test "${tests[@]}" --dev "${tests[0]%/*}/semeval2007.data.xml" \
        --inventory "$data/wsd/sense-inventory.tsv.xz" "${controls[@]}" "${others[@]}"
fi
analysis pos --train "$train" --dev "$treebank/dev.conllu.xz" --test "$treebank/test.conllu.xz" \
    --tags "$tags" "${controls[@]}" "${others[@]}"
analysis geometry "$text" "${controls[@]}"
