"""Conditions: what is asked of the checkpoints of a session, ready-made or in JMESPath."""

from tt_debugger.core.conditions.at import At as At
from tt_debugger.core.conditions.condition import Condition as Condition
from tt_debugger.core.conditions.condition import FollowingCondition as FollowingCondition
from tt_debugger.core.conditions.condition import parse_condition as parse_condition
from tt_debugger.core.conditions.refusal import ConditionError as ConditionError
