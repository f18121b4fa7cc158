"""What a scheduler serves on its secure port: health, metrics, configuration, to those who may see it."""
