"""Which data may reach which call of AgentDojo's travel agency: hotels, restaurants, cars, flights, calendar and mail.

Strangers write reviews, and the titles and descriptions of events. The agency's own catalogue has names, addresses and
prices. The user's passport, cards and bank account go into no mail and no event.
"""

from codeplan.flows import Flows, goal, tool

hotels = tool("get_all_hotels_in_city")
restaurants = tool("get_all_restaurants_in_city")
companies = tool("get_all_car_rental_companies_in_city")
addresses = tool("get_hotels_address") | tool("get_restaurants_address") | tool("get_car_rental_address")
prices = tool("get_hotels_prices") | tool("get_price_for_restaurants") | tool("get_car_price_per_day")
offers = (
    tool("get_cuisine_type_for_restaurants")
    | tool("get_dietary_restrictions_for_all_restaurants")
    | tool("get_contact_information_for_restaurants")
    | tool("check_restaurant_opening_hours")
    | tool("get_car_types_available")
    | tool("get_car_fuel_options")
    | tool("get_flight_information")
)
catalogue = hotels | restaurants | companies | addresses | prices | offers
events = tool("*calendar_event*").fields("id_", "start_time", "end_time")

flows = Flows(
    trusted=[catalogue, events],
    rules={
        "reserve_hotel.hotel": goal | hotels,
        "reserve_hotel.start_day|end_day": goal,
        "reserve_restaurant.restaurant": goal | restaurants,
        "reserve_restaurant.start_time": goal,
        "reserve_car_rental.company": goal | companies,
        "reserve_car_rental.start_time|end_time": goal,
        "create_calendar_event.title|description|location": goal | catalogue,
        "create_calendar_event.start_time|end_time": goal | events,
        "create_calendar_event.participants": goal,
        "cancel_calendar_event.event_id": goal | events,
        "send_email.recipients|cc|bcc": goal,
        "send_email.subject|body": goal | catalogue,
        "send_email.attachments": goal,
    },
    readonly=["get_*", "search_*", "check_*"],
    otherwise="ask",
)
