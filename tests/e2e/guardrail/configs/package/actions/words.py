from nemoguardrails.actions import action

from .split import parts


@action()
def count_words(text: str):
    return len(parts(text))
