"""Act: the one node that runs a tool; whatever the tool does, an observation comes of it."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Generator
from typing import Any

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.calls import Admission, Calls
from nodes.identity import thread
from nodes.leases import LeaseLost, fence_of
from nodes.limits import Limits
from nodes.node import Node, Steps, Wait
from nodes.order import Order, is_order
from nodes.rates import Rates
from nodes.runs import UNKNOWN
from nodes.threads import in_thread
from tools.database import Transaction
from tools.injected import KEY, TRANSACTION
from tools.observation import clean, failure
from tools.tool import Tool
from tools.toolbox import Toolbox

UNSURE = ("once", "keyed", "reconcilable")
"""Effect classes of which a call that broke off may have taken effect."""


class ToolCrashed(Exception):
    """A tool raised what no tool may raise (SystemExit, its own cancellation): a failure like any other."""


class Act(Node):
    """Ask the ledger, keep the rate, run the tool within its time, report."""

    def __init__(self, toolbox: Toolbox, limits: Limits, calls: Calls, rates: Rates) -> None:
        self.name = "act"
        self.toolbox, self.limits, self.calls, self.rates = toolbox, limits, calls, rates

    def steps(self, input: Order, runtime: Runtime[Any]) -> Steps:
        """One call, one observation."""
        if not is_order(input):
            return {}
        order, tool = input, self.toolbox.get(input["name"])
        if tool is None:
            return {"results": [observed(order, f"not executed: there is no tool {order['name']}", "not_executed")]}
        at, fence = thread(), fence_of(get_config())
        admission: Admission = yield Wait.io(lambda: self.calls.start(at, order, tool, fence))
        if admission.observation is not None:
            return {"results": [{**admission.observation, "call_id": order["id"]}]}
        if admission.refusal is not None:
            return {"results": [observed(order, admission.refusal, "not_executed")]}
        began = time.monotonic()
        try:
            observation = yield from self.run(tool, order, admission, runtime)
        except GraphBubbleUp:
            yield Wait.io(lambda: self.calls.suspend(order, admission.attempt))
            raise
        except LeaseLost:
            raise
        except Exception as error:
            code, text = failure(error, tool.name)
            observation = observed(order, text, code, time.monotonic() - began)
        observation, status = self.fate(tool, observation)
        settled = yield Wait.io(lambda: self.calls.finish(order, admission.attempt, observation, status))
        return {"results": [{**settled, "call_id": order["id"]}]}

    def run(
        self, tool: Tool, order: Order, admission: Admission, runtime: Runtime[Any]
    ) -> Generator[Wait, Any, dict[str, Any]]:
        """Run the tool, or learn from its service that it ran already."""
        if wait := self.rates.wait(tool, tool.rate if tool.rate is not None else self.limits.rate):
            text = f"not executed: {tool.name} is called too often; try again in {wait:.0f} seconds or go on without it"
            return observed(order, text, "rate_limited")
        began = time.monotonic()
        kind = tool.effect_class(self.calls.database)
        if kind == "transactional":
            done: dict[str, Any] = yield self.together(tool, order, admission, runtime)
            return done
        if admission.broken and kind == "reconcilable":
            try:
                value = yield self.waiting(tool.reconcile, (order["uid"], order["args"]), {}, tool, order)
            except Exception:
                return observed(order, UNKNOWN, "unknown", time.monotonic() - began)
            if value is not None:
                return self.read(order, value, runtime, time.monotonic() - began)
        value = yield self.waiting(tool.function, (), _named(tool, order), tool, order)
        return self.read(order, value, runtime, time.monotonic() - began)

    def fate(self, tool: Tool, observation: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """How the ledger closes the call; where nobody can know whether it took effect, the model is told so."""
        code = observation["code"]
        if code in ("timeout", "connection") and tool.effect_class(self.calls.database) in UNSURE:
            observation = {**observation, "code": "unknown", "text": f"{observation['text']}. {UNKNOWN}"}
        status = {"ok": "done", "unknown": "unknown"}.get(observation["code"], "failed")
        return observation, status

    def together(self, tool: Tool, order: Order, admission: Admission, runtime: Runtime[Any]) -> Wait:
        """The tool's change and its record in one transaction: both are there or neither."""
        began = time.monotonic()

        def run(transaction: Transaction) -> dict[str, Any]:
            with _contained():
                value = self.function(tool)(**_named(tool, order), **{TRANSACTION: transaction})
            return self.read(order, value, runtime, time.monotonic() - began)

        return self.wait(lambda: self.calls.together(order, admission.attempt, run), None, tool, order)

    def waiting(self, function: Any, values: tuple[Any, ...], named: dict[str, Any], tool: Tool, order: Order) -> Wait:
        """A function of the tool as something to wait for."""
        function = function or self.function(tool)

        def run() -> Any:
            with _contained():
                value = function(*values, **named)
                return asyncio.run(_finished(value)) if inspect.isawaitable(value) else value

        async def arun() -> Any:
            if not inspect.iscoroutinefunction(function):
                value = await in_thread(run)
            else:
                value = await _finished(function(*values, **named))
            return value

        return self.wait(run, arun, tool, order)

    def wait(self, run: Any, arun: Any, tool: Tool, order: Order) -> Wait:
        """Within the tool's own time and the run's."""
        usual = self.limits.tool_seconds if tool.timeout is None else tool.timeout
        left = max(1.0, self.limits.seconds - order["seconds"]) if self.limits.seconds else None
        bounds = [seconds for seconds in (usual or None, left) if seconds is not None]
        return Wait(run, arun or (lambda: in_thread(run)), min(bounds) if bounds else None)

    def function(self, tool: Tool) -> Any:
        """What runs.

        Raises:
            TypeError: the tool is a schema alone.
        """
        if tool.function is None:
            raise TypeError(f"{tool.name} is a schema without a function and cannot run")
        return tool.function

    def read(self, order: Order, value: Any, runtime: Runtime[Any], seconds: float) -> dict[str, Any]:
        """What a tool returned, as bounded text; what the model does not read stays retrievable."""
        try:
            cleaned = clean(value, self.limits.observation_chars)
        except Exception as error:
            code, text = failure(error, order["name"])
            return observed(order, text, code, seconds)
        observation = observed(order, cleaned.text, "ok", seconds)
        if cleaned.cut and runtime.store is not None:
            runtime.store.put(("observations", order["run_id"]), order["id"], {"text": cleaned.full})
        if cleaned.cut:
            observation["full"] = clean(cleaned.full, self.limits.stored_chars).text
        return observation


def observed(order: Order, text: str, code: str, seconds: float = 0.0) -> dict[str, Any]:
    """The result of one call, waiting for `observe`."""
    return {"call_id": order["id"], "args": order["args"], "text": text, "code": code, "seconds": round(seconds, 3)}


def _named(tool: Tool, order: Order) -> dict[str, Any]:
    """What the tool's function is called with; the key is for its service, the model never saw it."""
    return {**order["args"], **({KEY: order["uid"]} if KEY in tool.hidden else {})}


class _contained:
    """Turns what would end the process or the loop into a failure of the tool."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        if error is not None and (not isinstance(error, Exception) or isinstance(error, StopIteration)):
            raise ToolCrashed(type(error).__name__) from error


async def _finished(value: Any) -> Any:
    try:
        return await value
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ToolCrashed(type(error).__name__) from error
    except (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration) as error:
        raise ToolCrashed(type(error).__name__) from error
