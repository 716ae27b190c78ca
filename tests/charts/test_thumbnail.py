import io

import numpy as np
from PIL import Image

from headlight.charts import THEMES, lookup
from headlight.charts.colours import thumbnail


def test_each_pixel_is_the_colour_of_its_number() -> None:
    values = np.array([[-1.0, 0.0, 1.0], [0.5, -2.0, 2.0]])
    scale = THEMES["light"].diverging
    image = np.asarray(Image.open(io.BytesIO(thumbnail(values, scale, -1, 1))))
    table = lookup(scale)
    at = np.rint(255 * (np.clip(values, -1, 1) + 1) / 2).astype(int)
    assert np.array_equal(image, table[at])
