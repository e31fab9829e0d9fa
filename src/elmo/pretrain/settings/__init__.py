"""The recipes of pretraining and fine-tuning, as flat dataclasses whose fields are flags and TOML keys."""
