"""The table of the audit log: rows may be added, never changed or removed."""

from __future__ import annotations

_TABLE = """
CREATE TABLE audit (
    thread_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    record TEXT NOT NULL,
    mac TEXT NOT NULL,
    event_key TEXT,
    PRIMARY KEY (thread_id, seq),
    UNIQUE (thread_id, event_key)
)
"""

# SQLite's INSERT OR REPLACE removes the old row without a word to a trigger on DELETE, hence the one on INSERT.
_SQLITE = f"""{_TABLE};;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit WHEN EXISTS (
    SELECT 1 FROM audit WHERE thread_id = NEW.thread_id AND (seq = NEW.seq OR event_key = NEW.event_key)
)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""

_POSTGRESQL = f"""{_TABLE};;
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION audit_refuse();;
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()
"""

AUDIT_TABLES: dict[str, tuple[str, ...]] = {"sqlite": (_SQLITE,), "postgresql": (_POSTGRESQL,)}
"""Migrations by kind of database, for `Database.migrate("audit", ...)`.

The owner of the table can still drop the triggers; on a server, work as a role that may only INSERT and SELECT.
"""
