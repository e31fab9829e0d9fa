#!/usr/bin/env bash
# The mixture that the fifth and the sixth small-en read: class A text, with three times as much of the texts that explain
# something (guides, blogs, science, MASC), one and a half times as much of the textbooks and podcasts, half of the
# parliament and of the United Nations, and a tenth of the old books. dev/LOG.md says what was compared.
#   runs/model_tools/explaining_mixture.sh TEXT_FOLDER OUT.txt
# TEXT_FOLDER holds lm-en and lm-en-modern.
set -euo pipefail
text=$1 out=$2
shares=(mlschmitt=0.1 parleh-mate=0.5 SarahFranzen=0.5)
for source in GSA/digitalgov 18F/ alphagov github/opensource carpentries bitcoinops ropensci rust-lang UCDenver \
    openstax/osbooks-college-physics openstax/osbooks-chemistry "nltk/nltk_data masc" google-research-datasets; do
    shares+=("$source=3")
done
for source in openstax/osbooks-life openstax/osbooks-principles openstax/osbooks-intro HistoryAtState thechangelog; do
    shares+=("$source=1.5")
done
python "$(dirname "$0")/mix_corpora.py" "$out" "$text/lm-en" "$text/lm-en-modern" "${shares[@]/#/--share=}"
