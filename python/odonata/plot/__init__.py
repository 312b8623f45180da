"""Pictures: data in, Axes out. Every `draw_...` function draws into Axes that it is given and returns them."""
