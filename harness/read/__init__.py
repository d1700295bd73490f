"""READ: states and cells → answers, as they come. It must not know the truth of a row."""

from typing import Final

TIMEOUT_S: Final = 120.0
"""After so long a query counts as unanswered."""
