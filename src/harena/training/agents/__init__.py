"""An endpoint for agents that speak to a policy over HTTP, and rollouts made of what they said."""
