"""Lessons, exercises, and the mistakes of tutorials."""
