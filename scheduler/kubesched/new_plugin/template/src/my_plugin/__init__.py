"""The scheduler plugin MyPlugin."""
