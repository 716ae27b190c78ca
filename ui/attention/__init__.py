"""The Attention page: its view, its picture, and what heads can be switched off."""
