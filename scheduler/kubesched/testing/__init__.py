"""What tests of schedulers and plugins are built from."""
