"""Act: the one node that runs a tool; whatever the tool does, an observation comes of it."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import Any

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from nodes.ledger import Ledger, Order
from nodes.limits import Limits
from nodes.node import Node, Steps, Wait
from nodes.rates import Rates
from nodes.threads import in_thread
from tools.observation import clean, failure
from tools.tool import Tool
from tools.toolbox import Toolbox


class ToolCrashed(Exception):
    """A tool raised what no tool may raise (SystemExit, its own cancellation): a failure like any other."""


class Act(Node):
    """Ask the ledger, keep the rate, run the tool within its time, report."""

    def __init__(self, toolbox: Toolbox, limits: Limits, ledger: Ledger, rates: Rates) -> None:
        self.name = "act"
        self.toolbox, self.limits, self.ledger, self.rates = toolbox, limits, ledger, rates

    def steps(self, input: Order, runtime: Runtime[Any]) -> Steps:
        """One call, one observation."""
        order, tool = input, self.toolbox[input["name"]]
        admission = self.ledger.admit(order, tool)
        if admission.observation is not None:
            return {"results": [admission.observation]}
        if admission.refusal is not None:
            return {"results": [observed(order, admission.refusal, "not_executed")]}
        if wait := self.rates.wait(tool, tool.rate if tool.rate is not None else self.limits.rate):
            text = f"not executed: {tool.name} is called too often; try again in {wait:.0f} seconds or go on without it"
            return {"results": [observed(order, text, "rate_limited")]}
        began = time.monotonic()
        try:
            value = yield self.call(tool, order)
        except GraphBubbleUp:
            raise
        except Exception as error:
            code, text = failure(error, tool.name)
            observation = observed(order, text, code, time.monotonic() - began)
        else:
            observation = self.read(order, value, runtime, time.monotonic() - began)
        self.ledger.report(order, observation)
        return {"results": [observation]}

    def call(self, tool: Tool, order: Order) -> Wait:
        """The tool's function as something to wait for, within its own time and the run's."""
        function, args = tool.function, order["args"]
        if function is None:
            raise TypeError(f"{tool.name} is a schema without a function and cannot run")

        def run() -> Any:
            with _contained():
                value = function(**args)
                return asyncio.run(_finished(value)) if inspect.isawaitable(value) else value

        async def arun() -> Any:
            if not inspect.iscoroutinefunction(function):
                value = await in_thread(run)
            else:
                value = await _finished(function(**args))
            return value

        usual = self.limits.tool_seconds if tool.timeout is None else tool.timeout
        left = max(1.0, self.limits.seconds - order["seconds"]) if self.limits.seconds else None
        bounds = [seconds for seconds in (usual or None, left) if seconds is not None]
        return Wait(run, arun, min(bounds) if bounds else None)

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
