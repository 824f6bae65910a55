"""Results as text that leaves: pages, patches, pictures, bundles, redacted at one gate."""
