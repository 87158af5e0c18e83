"""A bitemporal knowledge store for agents, with a context compiler."""

from tenure.schema.answers import (
    Action,
    Change,
    EntityView,
    Explanation,
    HistoryRow,
    Neighbourhood,
    SearchHit,
    SearchResult,
    Segment,
    SlotState,
)
from tenure.schema.context_object import ContextObject, json_schema
from tenure.schema.entity import EntityRef
from tenure.schema.errors import (
    Conflict,
    ContextBudgetExhausted,
    Fault,
    Forbidden,
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
)
from tenure.schema.interval import Interval, Relation
from tenure.schema.layers import DecayRule
from tenure.schema.policy import Policy
from tenure.schema.principal import Principal, Scope
from tenure.schema.write import Receipt, Write
from tenure.service.connect import connect
from tenure.service.memory import Memory
from tenure.service.times import day
from tenure.service.view import View

__all__ = [
    "Action",
    "Change",
    "Conflict",
    "ContextBudgetExhausted",
    "ContextObject",
    "DecayRule",
    "EntityRef",
    "EntityView",
    "Explanation",
    "Fault",
    "Forbidden",
    "HistoryRow",
    "Interval",
    "InvalidInput",
    "Memory",
    "Neighbourhood",
    "NotFound",
    "Policy",
    "Principal",
    "Receipt",
    "Relation",
    "Scope",
    "SearchHit",
    "SearchResult",
    "Segment",
    "SlotState",
    "TenureError",
    "Unavailable",
    "View",
    "Write",
    "connect",
    "day",
    "json_schema",
]
