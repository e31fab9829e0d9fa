"""What a refused setting of the laboratory is told."""

from dataclasses import fields

import pytest

from elmo.errors import ConfigError
from elmo_paper.analysis.geometry import SampleSettings
from elmo_paper.analysis.occurrences import PrecisionLimits
from elmo_paper.context2vec.settings import Context2VecSettings
from elmo_paper.cove.settings import CoVeSettings
from elmo_paper.glove.settings import GloveSettings
from elmo_paper.mssg.settings import MSSGSettings

SETTINGS = [SampleSettings, PrecisionLimits, Context2VecSettings, CoVeSettings, GloveSettings, MSSGSettings]


# A negative one would be the end of a slice: all but so many.
@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (SampleSettings, ["least_sentences", "tokens", "words", "occurrences"]),
        (PrecisionLimits, ["least_candidates", "occurrences", "queries"]),
    ],
)
def test_a_sample_holds_something(settings, names):
    for name in names:
        with pytest.raises(ConfigError, match=rf"{name} must be at least 1 \(got -5\)"):
            settings(**{name: -5})


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_setting_takes_a_number_that_is_none(settings):
    for field in fields(settings):
        with pytest.raises(ConfigError, match=field.name):
            settings(**{field.name: "three"})
