"""What the tests of the command line start from: those of the library's."""

from tests.cli.conftest import language_model, model_folder, on_terminal, stdin  # noqa: F401 - fixtures
