#!/usr/bin/env bash
# After a bundled model was replaced: measures everything that the pages say of it, and writes it into them.
#   [LANGUAGE=ko] runs/pages/new_model_pages.sh MODEL OUT DATA
# MODEL is small-en or small-ko; OUT keeps records and can be used again after an interruption; DATA is that of
# analyses.sh. In turn: quality.json in the model's folder (what the explorer page says of itself), the analyses,
# the tables and figures of docs/analysis.md and docs/explorer.md, the pictures of docs/explorer.md, and the outputs of
# docs/course. At the end it lists the sentences of the pages that hold figures, which nobody but a person can bring
# up to date.
set -euo pipefail
model=$1 out=$2 data=$3
language=${LANGUAGE:-en}
here=$(dirname "$0")
if [ "$language" = ko ]; then
    quality=("$data/lm-ko/test.txt")
else
    quality=("$data/lm-en/test.txt.xz" "$data/wsd/semcor/semcor.data.xml.xz")
fi
python "$here/../quality/model_quality.py" "$model" "${quality[@]}"
"$here/../../paper/scripts/analyses.sh" "$model" "$out" "$data"
elmo-paper pages "$out"/*-"$model".json
python "$here/explorer_pictures.py"
python "$here/../../docs/site/notebook.py"
