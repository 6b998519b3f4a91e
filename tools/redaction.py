"""What looks like a key, a token or a password, replaced."""

from __future__ import annotations

import re

HIDDEN = "[hidden]"

_NAMES = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret"
    r"|token|passw(?:or)?d|passphrase|pwd|credentials?|signature|session[_-]?id|set-cookie|cookie)"
)
_VALUE = r"""(?:\\?"[^"]*"?|'[^']*'?|[^\s"'&,;<>)}\]]+)"""
# Every run is either bounded or begins after a literal, so that a long text is read once.
_NAMED = re.compile(
    rf"""(?ix)
    ( authorization \\?["']? \s{{0,8}} [=:] \s{{0,8}} \\?["']? )
      (?: (?:bearer|basic|digest|token|apikey) \s{{1,8}} )? {_VALUE}
    | ( \b bearer \s{{1,8}} ) [^\s"',;]{{3,}}
    | ( {_NAMES} \\?["']? \s{{0,8}} [=:] \s{{0,8}} ) {_VALUE}
    | ( --{_NAMES} ["']? [\s,]{{1,8}} ) {_VALUE}
    | ( [?&] (?:key|sig|auth|code|pass) = ) {_VALUE}
    | ( :// [^/\s:@]{{0,256}} : ) [^@/\s]{{1,1024}} (?=@)
    | ( :// ) [^/\s:@]{{8,1024}} (?=@)
    """
)
_SHAPED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}|gh[a-z]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}"
    r"|xox[a-z]-[\w-]{8,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{24,}|hf_[A-Za-z0-9]{16,}|lsv2_\w{16,}"
    r"|eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)"
)
_PEM = re.compile(r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,32}PRIVATE KEY-----)?")


def without_secrets(text: str) -> str:
    """Text with what looks like a key, a token or a password replaced."""
    text = _PEM.sub(HIDDEN, text)
    text = _NAMED.sub(lambda found: f"{next(filter(None, found.groups()), '')}{HIDDEN}", text)
    return _SHAPED.sub(HIDDEN, text)
