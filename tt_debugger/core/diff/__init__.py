"""What differs between two states, two texts, two branches, two sessions: values, and no I/O."""
