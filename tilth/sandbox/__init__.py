"""The sandbox: what a command may see and change, and the walls that hold it to that."""
