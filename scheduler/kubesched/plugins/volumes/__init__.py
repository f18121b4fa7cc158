"""The plugins that decide by the volumes of a pod."""
