"""The tiny language model that the library's command line is tested with."""

from tests.cli.conftest import language_model, model_folder, on_terminal  # noqa: F401 - fixtures
