"""The sample run, made once: nobody changes it."""

import pytest

from harness.run.load_run import Run
from tests.builders import sample_run


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))
