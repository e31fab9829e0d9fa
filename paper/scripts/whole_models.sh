#!/usr/bin/env bash
# Whole models tuned with the task, beside frozen ELMo: Dai & Le's LSTM without pretraining, as a language model and as a
# sequence autoencoder; and a biLM tuned with its own, lower rates (docs/tasks/whole-models.md). On SST-5 and Korean
# reviews.
#   paper/scripts/whole_models.sh DATA FOLDER [SECTION ...]
# Sections: en and ko, the LSTM, in ko beside frozen small-ko; bilm, ELMo with a quarter of SST-5's sentences;
# bilm-whole, with all of them. Default: all.
# SEEDS="1 2 3" trains further seeds. Killed at any moment, run it again: it goes on where it was.
# Minutes of one core: en 15 for pretraining, 4 for each training; bilm 10; bilm-whole an hour; ko 8 for
# pretraining, 2 for each training, 10 for one of small-ko.
set -euo pipefail
data=$1 work=$2
shift 2
sections=${*:-en bilm ko bilm-whole}
here=$(cd "$(dirname "$0")/../.." && pwd)
sst=$data/licence-unstated/sst5 reviews=$data/ko/nsmc-derived

task() { # RUN ARGUMENTS: a training in FOLDER/RUN, begun or resumed
    local run=$work/$1
    shift
    [ ! -f "$run/run.json" ] || set -- "$@" --resume
    elmo task train "$@" -o "$run" --quiet
}

whole() { # FILE COMMAND...: what the command prints, as a file that is there only when the command has ended well
    local file=$1
    shift
    [ -f "$file" ] || { "$@" >"$file.unfinished" && mv "$file.unfinished" "$file"; }
}

blocks() { # TEXT.xz N: every N-th block of 200 lines
    xzcat "$1" | awk -v n="$2" 'int((NR-1)/200)%n==0'
}

sixth() { # TABLE.xz: its first line, and every sixth one
    xzcat "$1" | awk 'NR==1 || NR%6==0'
}

sentences() { # FILE [SETTING=VALUE ...]: labelled data as a text, one sentence per line
    python - "$@" <<'END'
import sys
from elmo.tasks.sst.data import read_labelled
from elmo.tasks.sst.task import TASK
from elmo.tasks.settings import with_table
file, *settings = sys.argv[1:]
numbers = {name: int(value) for name, value in (setting.split("=") for setting in settings)}
table = {"text_tokenizer": "unicode", "header": bool(numbers), **numbers}
own = with_table(TASK.settings(), table, "whole_models.sh").classifier
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.writelines(" ".join(one.tokens) + "\n" for one in read_labelled(file, own))
END
}

# NAME ARGUMENTS: both pretrainings on FOLDER/NAME/general.txt and task.txt; then the task from each, and from neither.
last_state() {
    local name=$1 text=$work/$1
    shift
    [ -d "$text/words" ] || elmo prepare "$text/general.txt" "$text/task.txt" -o "$text/words" \
        --vocab-size 15000 --valid-share 0.02 --documents row --quiet
    [ -f "$text/lm.done" ] || elmo pretrain "$here/configs/pretrain/words-forward.toml" --data "$text/words" \
        -o "$text/lm" --evaluate-every 0 --resume-if-begun --quiet
    touch "$text/lm.done"
    # An autoencoder reads each sentence twice, so it has a part of the text, and all of the task's.
    whole "$text/fewer.txt" sh -c 'head -n 10000 "$1" && cat "$2"' - "$text/general.txt" "$text/task.txt"
    set -- sst "$here/configs/tasks/sst-last-state.toml" --seeds ${SEEDS:-1} "$@"
    task "$name/from-nothing" "$@" --model "$text/lm" --new-bilm
    task "$name/from-lm" "$@" --model "$text/lm"
    PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} task "$name/autoencoder" examples.sequence_autoencoder:TASK \
        --model "$text/lm" --train "$text/fewer.txt" --epochs 2 --batch-size 16 \
        --learning-rate 0.003
    task "$name/from-autoencoder" "$@" --model "$text/autoencoder/model/bilm"
}

# NAME ARGUMENTS: the paper's classifier with ELMo frozen, tuned, and tuned at the classifier's own rate.
bilm() {
    local name=$1
    shift
    set -- sst --train "$sst/train.txt.xz" --dev "$sst/dev.txt" --test "$sst/test.txt" --model small-en --phrases none \
        --elmo-dropout 0 --epochs 4 --patience 0 --decay slanted --batch-size 32 --seeds ${SEEDS:-1} "$@"
    task "$name/frozen" "$@" --cache "$work/cache"
    task "$name/tuned" "$@" --train-bilm
    task "$name/tuned-at-one-rate" "$@" --train-bilm --bilm-rate 1 --bilm-rate-divisor 1 --unfreeze-epochs 0
}

mkdir -p "$work/en" "$work/ko"
for section in $sections; do
    case $section in
    en) # 38,000 sentences of what small-en has read, in blocks of 200, and those of the task
        whole "$work/en/general.txt" blocks "$data/lm-en-modern/train.txt.xz" 44
        whole "$work/en/task.txt" sentences "$sst/train.txt.xz"
        last_state en --train "$sst/train.txt.xz" --dev "$sst/dev.txt" --test "$sst/test.txt"
        ;;
    ko) # as many of what small-ko has read, and a sixth of the reviews
        columns=(label_column=3 text_column=2)
        whole "$work/ko/general.txt" blocks "$data/lm-ko/train.txt.xz" 4
        whole "$work/ko/train.txt" sixth "$reviews/train.txt.xz"
        whole "$work/ko/task.txt" sentences "$work/ko/train.txt" "${columns[@]}"
        data=(--train "$work/ko/train.txt" --dev "$reviews/dev.txt" --test "$reviews/test.txt"
            --label-column 3 --text-column 2 --header --text-tokenizer unicode)
        last_state ko "${data[@]}"
        task ko/frozen sst "$here/configs/tasks/sst.toml" "${data[@]}" --model small-ko --phrases none \
            --character-filters 100 --epochs 20 --seeds ${SEEDS:-1} --cache "$work/cache"
        ;;
    bilm) bilm bilm-quarter --train-share 0.25 ;;
    bilm-whole) bilm bilm-whole ;;
    *) echo "there is no section $section: en, ko, bilm, bilm-whole" >&2 && exit 2 ;;
    esac
done
