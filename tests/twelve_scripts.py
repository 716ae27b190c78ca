"""A sentence in each of twelve scripts, as tokens: from right to left, in marks that combine, or wide."""

# Two code points where one would do, stacked marks, a number and a Latin name inside of what runs to the left.
TOKENS: dict[str, list[str]] = {
    "Latin": ["▁Le", "▁gar\u0063\u0327on", "▁a", "▁mange\u0301", "▁de\u0301ja\u0300", "."],
    "Greek": ["▁Το", "▁παιδί", "▁διαβάζει", "▁ένα", "▁βιβλίο", "."],
    "Cyrillic": ["▁Ма\u0301льчик", "▁чита\u0301ет", "▁но\u0301вую", "▁кни\u0301гу", "."],
    "Arabic": ["▁ذَهَبَ", "▁BERT", "▁إِلَى", "▁المَدْرَسَة", "▁عام", "▁1995", "،", "▁ثم", "▁عاد", "."],
    "Hebrew": ["▁הַיֶּלֶד", "▁קָרָא", "▁12", "▁סְפָרִים", "▁עַל", "▁GPT", "▁בַּבַּיִת", "."],
    "Devanagari": ["▁लड़की", "▁स्त्री", "▁क्षितिज", "▁को", "▁देखती", "▁है", "।"],
    "Bengali": ["▁মেয়েটি", "▁ক্ষুধার্ত", "▁স্ত্রী", "▁দেখছে", "।"],
    "Thai": ["▁เด็กผู้หญิง", "กำลัง", "ดื่มน้ำ", "อยู่", "ที่นี่"],
    "Chinese": ["▁小女孩", "坐在", "公园里", "的", "长椅", "上", "。"],
    "Japanese": ["▁女の子が", "ベンチに", "座って", "か\u3099っこう", "を見ている", "。"],
    "Korean": ["▁소녀가", "▁\u1100\u1169\u11bc\u110b\u116f\u11ab", "▁벤치에", "▁앉아", "▁있다", "."],
    "Emoji": ["▁👨\u200d👩\u200d👧\u200d👦", "▁👍🏽", "▁🇮🇳🇫🇷", "▁❤\ufe0f", "▁1\ufe0f\u20e3", "▁🏳\ufe0f\u200d🌈"],
}
LEFTWARDS = {"Arabic", "Hebrew"}
