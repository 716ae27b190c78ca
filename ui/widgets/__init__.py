"""Parts that pages share on screen: the frame, the sidebar, the sentence, text, uploads, links to other pages."""
