"""Groups of words with similar meanings."""

from __future__ import annotations

import re

_SYNONYM_GROUPS = """
big large huge enormous gigantic; small tiny little mini petite; red scarlet crimson vermillion;
happy cheerful joyful gleeful delighted; sad unhappy sorrowful miserable tragic; angry mad furious irritated;
evil wicked immoral sinful corrupt depraved; wrong incorrect mistaken erroneous; real genuine actual;
strange odd peculiar unusual weird; stop cease halt end finish;
scared terrified panicked fearful frightened afraid; quiet calm peaceful serene mild; old aged archaic;
love like adore favor; kill murder assassinate; keep retain preserve sustain maintain; hide conceal camouflage;
hate despise loathe detest dislike; funny humorous amusing comical laughable; fat fleshy plump chubby;
stupid dumb dull unwise; delicious savory delectable appetizing; cut slice carve chop; brave courageous fearless;
begin start initiate launch; answer reply response; television televisions tv tvs; house home houses homes;
fire flame fires flames; pig pork swine; rabbit rabbits bunny bunnies;
car cars automobile automobiles vehicle vehicles; water
"""
_QUESTION = re.compile(r"Which of the words \[([^\[\]]*)\] mean much the same as one of the words \[([^\[\]]*)\]\?")
_SYNONYMS = [set(group.split()) for group in _SYNONYM_GROUPS.split(";")]


def answer_question(question: str) -> str | None:
    """The Python list of offered words that resemble one of the named words; None for any other question."""
    asked = _QUESTION.search(question)
    if not asked:
        return None
    offered, named = (re.findall(r"'([^']+)'", part) for part in asked.groups())
    same, lowered = {*named}, {word.lower() for word in named}
    synonyms = set[str]().union(*(group for group in _SYNONYMS if group & lowered))
    return repr([word for word in offered if word in same or word.lower() in synonyms])
