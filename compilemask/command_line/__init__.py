"""The `compilemask` command: one module per verb, each with `run(arguments) -> exit code`."""
