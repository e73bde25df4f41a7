from src.common.util import digest
from src.auth.session import Session


def login(name, password, users):
    user = users.get(name)
    if user and user["password"] == digest(password):
        return Session(name)
    return None
