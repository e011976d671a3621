"""Forms and requests that are carried out once, however often they are sent."""
