"""The Anatomy page: one token through one part of the network, in numbers."""
