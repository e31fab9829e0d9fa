"""What the laboratory's tests start from: the library's fixtures, and its checks of shapes."""

from jaxtyping import install_import_hook
from tests.conftest import (  # noqa: F401 - fixtures
    environment_stays,
    load_script,
    no_waiting_for_the_disk,
    one_thread,
    own_cache,
    recorded_progress,
    shared,
    terminal,
    tiny_bilm,
    tiny_checkpoint,
    tiny_config,
    tiny_corpus,
)

install_import_hook(["elmo_paper"], "beartype.beartype")
