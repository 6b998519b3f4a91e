"""Three ways of writing one conversation: text, json and native; each renders the history and parses a reply."""
