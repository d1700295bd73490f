"""What is not known of a table, collected on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.usage.used_tables import Fact


@dataclass(frozen=True, slots=True)
class Doubts:
    """TableFacts that could not be found out, each with the first reason."""

    facts: dict[Fact, str] = field(default_factory=dict)

    def add(self, fact: Fact, why: object) -> None:
        """Note that a fact is not known, or not all of it."""
        self.facts.setdefault(fact, str(why))

    @property
    def unknown(self) -> tuple[Fact, ...]:
        """The facts, in the order in which they are written."""
        return tuple(fact for fact in Fact if fact in self.facts)

    @property
    def why(self) -> str:
        """All reasons, each once."""
        return "; ".join(dict.fromkeys(self.facts.values()))
