"""Every table and figure of the paper in one HTML file: a file a group of them, and the page."""
