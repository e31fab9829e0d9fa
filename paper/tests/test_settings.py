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


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        # A negative one would be the end of a slice: all but so many.
        *((SampleSettings, name, -5) for name in ("least_sentences", "tokens", "words", "occurrences")),
        *((PrecisionLimits, name, -5) for name in ("least_candidates", "occurrences", "queries")),
        (CoVeSettings, "least_learning_rate", 2.0),  # no epoch would be trained
        (GloveSettings, "window", 64),
        (MSSGSettings, "new_sense_below", 1.5),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(settings, name, value):
    with pytest.raises(ConfigError, match=f"{name} must be"):
        settings(**{name: value})


@pytest.mark.parametrize("settings", SETTINGS)
def test_no_setting_takes_a_number_that_is_none(settings):
    for field in fields(settings):
        with pytest.raises(ConfigError, match=field.name):
            settings(**{field.name: "three"})
