"""Record: checkpoints of agents of one's own, that survive whatever ends their process."""

from __future__ import annotations

from tt_debugger.core.model import Usage
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.record.asynchronous import AsyncRecorder
from tt_debugger.record.backends.options import Consistency
from tt_debugger.record.policies import EveryStep, Hybrid, OnEvents, Periodic, Policy, Thresholds
from tt_debugger.record.recorder import Recorder
from tt_debugger.record.reducers import append, extend, replace, total
from tt_debugger.record.retention import Retention
from tt_debugger.record.step import Step

__all__ = [
    "AsyncRecorder",
    "Consistency",
    "Effect",
    "EveryStep",
    "Hybrid",
    "OnEvents",
    "Periodic",
    "Policy",
    "Recorder",
    "Retention",
    "Status",
    "Step",
    "Thresholds",
    "Usage",
    "append",
    "extend",
    "replace",
    "total",
]
