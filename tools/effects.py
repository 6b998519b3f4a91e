"""What a call does to the world, in two words: how much harm it can do, and how a broken one is taken up."""

from __future__ import annotations

from typing import Literal

Effect = Literal["read", "egress", "write", "irreversible"]
"""read: changes nothing, tells nobody. egress: sends something out. write: can be undone. irreversible: cannot."""
EffectClass = Literal["pure", "transactional", "keyed", "reconcilable", "once"]
"""pure: may run again. transactional: effect and record commit together. keyed: runs again with the same key.
reconcilable: the service is asked first. once: nobody knows, a person decides."""
