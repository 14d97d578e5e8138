"""Walks through the dashboard in a real browser. Usage: dashboard.py BASE KEY PASSWORD [FOLDER FOR SCREENSHOTS]"""
import json
import secrets
import sys
import urllib.request

sys.dont_write_bytecode = True
import sample
from chromium import Chromium

base, key, password = sys.argv[1:4]
folder = sys.argv[4] if len(sys.argv) > 4 else None
faults = []


def call(method, path, body, token=None):
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(f"{base}/client_api/v1{path}", json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def device(label, hostile):
    machine, nonce = secrets.token_hex(32), secrets.token_hex(16)
    tags = [sample.HOSTILE[:-1]] if hostile else ["production", "eu-west"]
    client = call("POST", "/registrations", {"registration_key": key, "label": label, "tags": tags, "machine": machine, "nonce": nonce})
    answer = call("POST", "/authentications", {"client_uuid": client["client_uuid"], "secret": client["secret"], "machine": machine, "nonce": nonce})
    report = sample.drive(hostile=hostile)
    report["subject"] = report["subject"].replace("\u202e", "")
    call("PUT", f"/measurements/{report['id']}", report, answer["token"])
    return client["client_uuid"], report["id"]


def expect(what, condition):
    if not condition:
        faults.append(what)


good, good_report = device("van-07", False)
bad, bad_report = device(sample.HOSTILE[:-1], True)
browser = Chromium()
try:
    browser.go(f"{base}/")
    expect("the login comes first", browser.evaluate("location.pathname") == "/login")
    for word in ("wrong password", password):
        browser.evaluate(f"document.querySelector('[name=name]').value = 'admin'; document.querySelector('[name=password]').value = {json.dumps(word)}")
        browser.submit("document.querySelector('form.login button').click()")
        expect("a wrong password is refused", word == password or browser.evaluate("document.querySelector('.fault') !== null"))
    expect("the right one is not", browser.evaluate("location.pathname") == "/")
    pages = ["/", "/keys", "/clients", f"/clients/{good}", f"/clients/{bad}", "/measurements", f"/measurements/{good_report}", f"/measurements/{bad_report}"]
    for width, phone in ((1280, False), (390, True)):
        for dark in (False, True):
            browser.screen(width, 900, dark, phone)
            for number, path in enumerate(pages):
                browser.go(base + path)
                where = f"{path} at {width}{' dark' if dark else ''}"
                expect(f"{where}: nothing sticks out", browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))
                expect(f"{where}: the stylesheet counts", browser.evaluate("getComputedStyle(document.querySelector('header')).display") == "flex")
                back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
                expect(f"{where}: light or dark as wished ({back})", (int(back.split("(")[1].split(",")[0]) < 128) == dark)
                expect(f"{where}: no element of a device's making", browser.evaluate("document.querySelectorAll('script, img').length") == 0)
                if folder:
                    browser.screenshot(f"{folder}/{number}-{width}{'-dark' if dark else ''}.png")
    browser.screen(1280, 900)
    browser.go(f"{base}/measurements/{good_report}")
    expect("the track is drawn", browser.evaluate("document.querySelectorAll('svg.track .line path').length") == 89)
    colours = browser.evaluate("[...new Set([...document.querySelectorAll('svg.track .line path')].map(p => getComputedStyle(p).stroke))].length")
    expect(f"the track is coloured ({colours})", colours >= 5)
    box = browser.evaluate("(() => { const b = document.querySelector('svg.track .line').getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; })()")
    view = browser.evaluate("(() => { const v = document.querySelector('svg.track').viewBox.baseVal; return [v.width, v.height]; })()")
    expect(f"the track is within its drawing {box} {view}", box[0] >= 0 and box[1] >= 0 and box[2] <= view[0] and box[3] <= view[1])
    expect("the changes are drawn", browser.evaluate("document.querySelectorAll('svg.timeline rect[class^=kind]').length") == 8)
    browser.go(f"{base}/clients/{good}")
    browser.evaluate("document.querySelector('[name=reason]').value = 'Battery <b>flat</b>'")
    browser.submit("document.querySelector('button.danger').click()")
    expect("the client is disabled", "Battery <b>flat</b>" in browser.evaluate("document.body.innerText"))
    browser.submit("document.querySelector('header form button').click()")
    expect("logged out", browser.evaluate("location.pathname") == "/login")
    for event in browser.events:
        name, parameters = event.get("method"), event.get("params", {})
        if name in ("Page.javascriptDialogOpening", "Runtime.exceptionThrown"):
            faults.append(f"{name}: {parameters}")
        if name == "Log.entryAdded" and "403" not in parameters["entry"]["text"] and "favicon" not in str(parameters):
            faults.append(f"the browser complains: {parameters['entry']['text']}")
        if name == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(base + "/"):
            faults.append(f"asked elsewhere: {parameters['request']['url']}")
finally:
    browser.close()
print("\n".join(faults) if faults else "no fault")
sys.exit(1 if faults else 0)
