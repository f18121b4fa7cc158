"""Tests of other tools as tests of schedlab: what has a meaning is converted, everything else is told."""
