"""A handbook that a random editor changes: sections of paragraphs, some of them twice."""

import random

_WORDS = (
    "leave travel sick parental weeks days pay desk manager form office holiday policy request "
    "approval cost receipt hotel train flight contract notice team hour overtime child school"
).split()


class Handbook:
    """A document under edit."""

    def __init__(self, seed: int, *, sections: int = 6) -> None:
        self.chance = random.Random(seed)
        self.sections = [
            (f"Chapter {number}", [self.paragraph() for _ in range(4)])
            for number in range(sections)
        ]

    def paragraph(self) -> str:
        """A paragraph of 6 to 90 words in sentences."""
        words = self.chance.choices(_WORDS, k=self.chance.randint(6, 90))
        sentences = [words[at : at + 9] for at in range(0, len(words), 9)]
        return " ".join(" ".join(part).capitalize() + "." for part in sentences)

    def edit(self) -> None:
        """Insert, delete, move, copy or rename something."""
        chance = self.chance
        place = chance.randrange(len(self.sections))
        _title, paragraphs = self.sections[place]
        action = chance.choice(("insert", "delete", "move", "swap", "rename", "copy", "change"))
        if action == "insert":
            paragraphs.insert(chance.randint(0, len(paragraphs)), self.paragraph())
        elif action == "delete" and len(paragraphs) > 1:
            paragraphs.pop(chance.randrange(len(paragraphs)))
        elif action == "move" and len(paragraphs) > 1:
            other = chance.choice(self.sections)[1]
            other.insert(chance.randint(0, len(other)), paragraphs.pop())
        elif action == "swap":
            self.sections.append(self.sections.pop(place))
        elif action == "rename":
            self.sections[place] = f"Chapter {chance.randrange(90)}", paragraphs
        elif action == "copy":
            chance.choice(self.sections)[1].append(chance.choice(paragraphs))
        else:
            paragraphs[chance.randrange(len(paragraphs))] = self.paragraph()

    @property
    def markdown(self) -> str:
        """The text of the file."""
        parts = ["# Handbook"]
        for title, paragraphs in self.sections:
            parts += [f"## {title}", *paragraphs]
        return "\n\n".join(parts) + "\n"
