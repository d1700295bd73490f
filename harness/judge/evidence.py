"""What the files of each view tell beside its truth; each thing is made once."""

from __future__ import annotations

from harness.judge.agreement import FileAgreement
from harness.judge.case import SNAPSHOT, Case
from harness.judge.expectations import Expectations
from harness.judge.file_evidence import Layout
from harness.judge.state_files import StateFiles
from harness.model.commit import AS_OF


class Evidence:
    """The files of one variant beside what is expected of it."""

    def __init__(
        self, case: Case, expectations: Expectations, files: StateFiles, whole: Evidence | None
    ) -> None:
        """`whole`: of all that was written, where a product cannot show all of it."""
        self._case, self._expectations, self._files = case, expectations, files
        self._whole = whole
        self._layouts: dict[tuple[int, str], Layout] = {}
        self._agreements: dict[tuple[int, str], FileAgreement | None] = {}

    def layout(self, step: int, view: str) -> Layout:
        """Return the files of a step beside the truth of a view."""
        if (step, view) not in self._layouts:
            self._layouts[step, view] = self._layout(step, view)
        return self._layouts[step, view]

    def agreement(self, step: int, view: str) -> FileAgreement | None:
        """Return what was written beside what the files hold; None where that is not known."""
        if self._whole is not None:
            return self._whole.agreement(step, view)
        if (step, view) not in self._agreements:
            self._agreements[step, view] = self._agreement(step, view)
        return self._agreements[step, view]

    def _layout(self, step: int, view: str) -> Layout:
        past, since = self._case.past(view), self._files.since(step, view)
        at = past.step if past and past.name == AS_OF else step
        state = self._case.state_of[at]
        return Layout(
            self._expectations.world(step, view),
            state.files,
            self._case.made(at),
            state.layout,
            since=since,
            meta=self._files.meta(state),
            lists=self._files.lists(step) if past is None or since else None,
            whole=self._whole.layout(step, view) if self._whole else None,
        )

    def _agreement(self, step: int, view: str) -> FileAgreement | None:
        past = self._case.past(view)
        if past and past.name == AS_OF:
            return self.agreement(past.step, SNAPSHOT)
        held = self._files.held(step, view)
        world = self._expectations.world(step, view)
        return FileAgreement(world, held, self._files.holdings) if held else None
