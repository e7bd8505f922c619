"""A page as a reader's browser shows it: Chromium without a window."""

from dataclasses import dataclass, field

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
DESKTOP, PHONE = 1200, 390


@dataclass
class Shown:
    """What became of a page: what it asked for, complained of, and looks like."""

    page: object
    asked: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def of(self, script):
        """Result of a JavaScript expression."""
        return self.page.evaluate(script)

    @property
    def text(self):
        """What can be read."""
        return self.page.inner_text("body")

    @property
    def pictures(self):
        """Width of every picture in its own pixels, zero where it could not be decoded."""
        return self.of("[...document.images].map(image => image.complete && image.naturalWidth)")

    @property
    def overflow(self):
        """Pixels by which the page is wider than the window."""
        return self.of("document.documentElement.scrollWidth - window.innerWidth")


class Browser:
    """Opens pages from files."""

    def __init__(self, chromium):
        self.chromium = chromium

    def open(self, path, *, width=DESKTOP, scheme="light"):
        """Open a file in a window of so many pixels, light or dark."""
        context = self.chromium.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme
        )
        shown = Shown(context.new_page())
        shown.page.on("request", lambda request: shown.asked.append(request.url))
        shown.page.on("console", lambda message: shown.complaints.append(message.text))
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.goto(path.as_uri())
        return shown
