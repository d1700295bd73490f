"""The partition values of a file's rows by the catalog, or by the name of the file's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.model import partition_paths
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.partition_paths import Texts
from harness.model.truth import History


@dataclass(frozen=True, slots=True)
class PartitionValues:
    """What readers that take partition values from the path find there."""

    history: History
    steps: Mapping[str, int]
    """The step that made each instant."""
    listed: Mapping[str, Texts]
    """What the catalog says of a folder, where it is not the very text of the folder's name."""

    def of(self, fact: FileFact) -> Mapping[int, Value]:
        """Return the values by the ids of their columns; nothing where the path tells none.

        So it is where a folder has another depth than there are partition columns, as Iceberg's
        have, which no reader goes by; and where its text is no value of the column's type.
        """
        folder = partition_paths.folder_of(fact.path)
        return self._values(fact, partition_paths.texts(folder, self._columns))

    def certain(self, fact: FileFact) -> Mapping[int, Value]:
        """Return the same where it does not depend on whether the name was escaped.

        Hudi does not escape unless it is told so
        (`hoodie.datasource.write.partitionpath.urlencode`): a name that looks so tells two values.
        """
        folder = partition_paths.folder_of(fact.path)
        texts = partition_paths.texts(folder, self._columns)
        certain = texts == partition_paths.as_they_stand(folder, self._columns)
        return self._values(fact, texts if certain else ())

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.history[0].table.partition_by

    def _values(self, fact: FileFact, texts: Texts) -> Mapping[int, Value]:
        listed = self.listed.get(partition_paths.folder_of(fact.path), texts)
        try:
            return partition_paths.values(listed, self.history[self.steps[fact.instant]])
        except ValueError:
            return {}
