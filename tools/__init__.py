"""What the agent can do in the world; imports neither nodes nor graphs."""
