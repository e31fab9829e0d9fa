#!/usr/bin/env bash
# Exact perplexities of an English model, as its card shows them: OUT/perplexity-SET.json.
#   runs/quality/english_perplexities.sh MODEL TEXT_FOLDER OUT
# TEXT_FOLDER holds lm-en and lm-en-modern, measured by source too, and lm-en-medical and lm-en-tech, of whose test
# texts the first 300 lines are read. What was written before is kept.
set -euo pipefail
model=$1 text=$2 out=$3
mkdir -p "$out"

# What another model left there would stand beside this one's figures.
hash=$(elmo inspect "$model" --json | python -c 'import json, sys; print(json.load(sys.stdin)["content_hash"])')
[ -f "$out/model-hash" ] || printf '%s\n' "$hash" >"$out/model-hash"
[ "$(cat "$out/model-hash")" = "$hash" ] || {
    printf '%s holds figures of another model than %s. Name another folder.\n' "$out" "$model" >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
measure() { # NAME COMMAND ...
    local file="$out/perplexity-$1.json"
    [ -f "$file" ] || { "${@:2}" >"$file.part" && mv "$file.part" "$file"; }
    printf '%s: ' "$1" && python -c 'import json, sys; print(json.load(open(sys.argv[1]))["mean_perplexity"])' "$file"
}

for set in lm-en lm-en-modern; do
    manifest=$(ls "$text/$set"/manifest.tsv*)
    for part in valid test; do
        measure "$set-$part" python "$here/perplexity_by_source.py" "$model" "$text/$set/$part.txt.xz" "$manifest"
    done
done
for set in lm-en-medical lm-en-tech; do
    [ -f "$out/$set.txt" ] ||
        { head -n 300 "$text/$set/test.txt" >"$out/$set.part" && mv "$out/$set.part" "$out/$set.txt"; }
    measure "$set" elmo perplexity "$model" "$out/$set.txt" --json
done
