from src.auth.login import login
from src.common.util import digest


def test_login():
    users = {"ada": {"password": digest("secret")}}
    assert login("ada", "secret", users).name == "ada"
    assert login("ada", "wrong", users) is None
