"""Which data may reach which call of AgentDojo's Slack: channels, direct messages and web pages.

Strangers write messages and web pages. Slack itself stamps a message with its sender, and lists channels and users.
Their names may hold a stranger's words, but as an argument they only choose among what exists. To fetch a page tells
its owner what the address says, so ``get_webpage`` acts.
"""

from codeplan.flows import Flows, goal, tool

channels = tool("get_channels")
users = tool("get_users_in_channel") | tool("read_*").sender

flows = Flows(
    trusted=[channels, users],
    rules={
        "send_direct_message.recipient": goal | users,
        "send_direct_message.body": goal | users,
        "send_channel_message.channel": goal | channels,
        "send_channel_message.body": goal | users,
        "add_user_to_channel.user": goal | users,
        "add_user_to_channel.channel": goal | channels,
        "invite_user_to_slack.user|user_email": goal,
        "remove_user_from_slack.user": goal,
        "get_webpage.url": goal,
        "post_webpage.url|content": goal,
    },
    readonly=["get_channels", "get_users_in_channel", "read_*"],
    otherwise="ask",
)
