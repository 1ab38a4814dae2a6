from typing import Optional

from nemoguardrails.actions import action


@action(is_system_action=True)
async def check_blocked_terms(context: Optional[dict] = None):
    text = context.get("bot_message") or ""
    if "raise" in text:
        raise ValueError(text)
    return "proprietary" in text
