"""DynamicResources, as far as pods without resource claims meet it."""
