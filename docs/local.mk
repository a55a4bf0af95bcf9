# Manual pages and generated references.
