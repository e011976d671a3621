"""Policy in REST and on pages: what security keeps by a tool's name, where tools are known."""
