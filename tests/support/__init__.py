"""Everything that tests of several files share."""
