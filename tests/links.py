"""Each page's address with parameters that it keeps, and its title."""

LINKS = {
    "/?layer=1&head=2": "Attention",
    "/attention?layer=1&head=2": "Attention",
    "/lessons": "Lessons",
    "/decoding?strategy=sampling&seed=3": "Decoding",
    "/why?step=2": "Why",
    "/positions?positions=12": "Positions",
    "/anatomy?kind=encoder&layer=1": "Anatomy",
    "/training?sentence=2": "Training",
    "/checkpoints?weight=encoder": "Checkpoints",
    "/heads?kind=encoder&only=named": "Heads",
}

# Those that a test in tests/browser follows as the first request of a server: test_connections.py the page that opens
# without a name, test_deep_links.py the same with it.
FIRST = [link for link in LINKS if link.startswith(("/?", "/attention"))]
