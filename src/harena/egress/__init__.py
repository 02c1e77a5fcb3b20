"""What leaves a sandbox: network policies, the processes that carry them out, gateways and secrets."""
