"""Which data may reach which call of AgentDojo's workspace: mail, calendar and drive of one person.

Strangers write e-mails, invitations' titles and descriptions, and files; they write no ids. A person's address counts
where the user has it already: in the contacts, in mail that was sent, in an event, in the list of a file's readers.
"""

from codeplan.flows import Flows, goal, tool

contacts = tool("search_contacts_*").email
sent_to = tool("get_sent_emails").fields("recipients", "cc", "bcc")
invited = tool("*calendar_event*").participants
readers = tool("*file*").shared_with
people = contacts | sent_to | invited | readers

emails = tool("*emails").id_
events = tool("*calendar_event*").id_
files = tool("*file*").id_
times = tool("get_current_day") | tool("*calendar_event*").fields("start_time", "end_time")

flows = Flows(
    trusted=[people, emails, events, files, times, tool("*file*").size],
    rules={
        "send_email.recipients|cc|bcc": goal | people,
        "send_email.subject|body": goal | times,  # what a text says in the user's name is the user's own
        "send_email.attachments": goal | files | events,  # a file by its id; its content leaves with it
        "delete_email.email_id": goal | emails,
        "create_calendar_event.title|description|location": goal,  # they are mailed to the participants
        "create_calendar_event.start_time|end_time": goal | times,
        "create_calendar_event.participants": goal | people,
        "reschedule_calendar_event.event_id": goal | events,
        "reschedule_calendar_event.new_start_time|new_end_time": goal | times,
        "cancel_calendar_event.event_id": goal | events,
        "add_calendar_event_participants.event_id": goal | events,
        "add_calendar_event_participants.participants": goal | people,
        "create_file.filename|content": goal,  # others may read the file once it is shared
        "append_to_file.file_id": goal | files,
        "append_to_file.content": goal,
        "delete_file.file_id": goal | files,
        "share_file.file_id": goal | files,
        "share_file.email": goal | people,
        "share_file.permission": goal,
    },
    readonly=["get_*", "search_*", "list_files"],
    otherwise="ask",
)
