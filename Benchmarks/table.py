"""The table of measured figures and targets."""


class Table:
    """Figures in sections. A figure with a target states whether it reaches the target."""

    def __init__(self):
        self.rows = []

    def section(self, title):
        self.rows.append((title, None, "", ""))

    def figure(self, name, text):
        """Adds a figure without a target."""
        self.rows.append((name, text, "", ""))

    def missing(self, name, reason):
        """Adds a figure that could not be measured."""
        self.rows.append((name, "not measured", "", reason))

    def judged(self, name, value, target, unit):
        """Adds a figure that must be at most `target`."""
        if value <= target:
            verdict = "reached"
        elif target == 0:
            verdict = f"missed by {value:g}"
        else:
            verdict = f"missed by {value - target:.2f}{unit} ({(value / target - 1) * 100:.0f} %)"
        text = f"{value:.2f}{unit}" if isinstance(value, float) else f"{value}{unit}"
        self.rows.append((name, text, f"≤ {target:g}{unit}", verdict))

    def __str__(self):
        name_width = max(len(name) for name, text, *_ in self.rows if text) + 2
        text_width = max(len(text) for _, text, *_ in self.rows if text)
        target_width = max(len(target) for *_, target, _ in self.rows)
        lines = []
        for name, text, target, verdict in self.rows:
            if text is None:
                lines += ["", name]
            else:
                line = f"  {name:{name_width}}{text:>{text_width}}"
                lines.append(f"{line}   {target:{target_width}}   {verdict}".rstrip())
        return "\n".join(lines)
