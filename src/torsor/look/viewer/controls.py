"""Controls of the page that both the user and the program change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def on_user_change(control: Any, act: Callable[[Any], Any]) -> None:
    """Call ``act`` with the new value when the user changed a control, not when the program did."""

    @control.on_update
    def _(event: Any) -> None:
        if event.client_id is not None:
            act(event.target.value)
