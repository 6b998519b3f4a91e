"""What the agent of the command line works with: tools on the database of the ledger, and the policy in force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graphs.fenced import Fenced
from nodes.argument_rule import PolicyError
from nodes.policy import Policy
from nodes.policy_file import read_policy
from reasonact.endings import Refused
from reasonact.home import policy_file
from reasonact.settings import Settings
from tools.defaults import demo_tools
from tools.toolbox import Toolbox


def toolbox_of(store: Fenced) -> Toolbox:
    """The tools; what they change lies beside the ledger, so that both are changed in one transaction."""
    return Toolbox(demo_tools(store.records.database))


def with_policy(settings: Settings) -> Settings:
    """The settings with the policy file that is in force now, to be kept with the thread."""
    if settings.approve:
        return replace(settings, policy="")
    path = Path(settings.policy).expanduser().absolute() if settings.policy else policy_file()
    return replace(settings, policy=str(path or ""))


def policy_of(settings: Settings, toolbox: Toolbox) -> Policy:
    """The policy of approval, read anew each time: the word that was given, else the file's, else the usual one.

    Raises:
        Refused: the file cannot be read or followed; that must never mean that nobody is asked.
    """
    path = with_policy(settings).policy
    if not path:
        return Policy.of(settings.approve or "risky")
    try:
        return read_policy(Path(path), toolbox)
    except PolicyError as error:
        raise Refused(f"the policy of approval cannot be followed: {error}") from error
