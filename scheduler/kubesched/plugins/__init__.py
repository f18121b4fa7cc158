"""The in-tree plugins, one module or package each, under upstream's names; `plugins.registry` lists them."""
