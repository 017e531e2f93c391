"""Which data may reach which call of AgentDojo's banking: an account, its owner's data, and files.

Strangers write files and the subjects of what they send. Whoever sends one cent is a sender, so a sender is not to be
paid for that; the recipients are those that the user has paid. What is scheduled, the user has scheduled.
"""

from codeplan.flows import Flows, goal, tool

paid = tool("get_most_recent_transactions").fields("id", "recipient", "amount", "date", "recurring")
scheduled = tool("get_scheduled_transactions")
recipients = tool("get_most_recent_transactions").recipient | scheduled.recipient
amounts = tool("get_most_recent_transactions").amount | scheduled.amount | tool("get_balance")
dates = tool("get_most_recent_transactions").date | scheduled.date

flows = Flows(
    trusted=[paid, scheduled, tool("get_iban"), tool("get_balance"), tool("get_user_info")],
    rules={
        "send_money.recipient": goal | recipients,
        "send_money.amount": goal | amounts,
        "send_money.subject": goal | scheduled.subject,
        "send_money.date": goal | dates,
        "schedule_transaction.recipient": goal | recipients,
        "schedule_transaction.amount": goal | amounts,
        "schedule_transaction.subject": goal | scheduled.subject,
        "schedule_transaction.date": goal | dates,
        "schedule_transaction.recurring": goal | scheduled.recurring,
        "update_scheduled_transaction.id": goal | scheduled.id,
        "update_scheduled_transaction.recipient": goal | recipients,
        "update_scheduled_transaction.amount": goal | amounts,
        "update_scheduled_transaction.subject": goal | scheduled.subject,
        "update_scheduled_transaction.date": goal | dates,
        "update_scheduled_transaction.recurring": goal | scheduled.recurring,
        "update_password.password": goal,
        "update_user_info.first_name|last_name|street|city": goal | tool("get_user_info"),
    },
    readonly=["get_*", "read_file"],
    otherwise="ask",
)
