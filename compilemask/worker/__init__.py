"""The process that validates, compiles and times for the workbench. Its messages: `compilemask.worker_protocol`."""
