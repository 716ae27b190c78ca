"""What pages share on screen: the frame, the sidebar, the sentence, text, uploads, ways to other pages."""
