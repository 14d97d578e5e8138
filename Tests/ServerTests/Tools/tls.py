"""What a server offers by TLS. Usage: tls.py CERTIFICATE PORT"""
import http.client
import ssl
import sys
import warnings

warnings.simplefilter("ignore")
port = int(sys.argv[2])
context = ssl.create_default_context(cafile=sys.argv[1])
connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
connection.request("GET", "/health")
answer = connection.getresponse()
print("health", answer.status, connection.sock.version())
answer.read()
connection.request("GET", "/login")
answer = connection.getresponse()
print(answer.headers["Set-Cookie"])
answer.read()
old = ssl.create_default_context(cafile=sys.argv[1])
old.set_ciphers("ALL:@SECLEVEL=0")
old.minimum_version = ssl.TLSVersion.TLSv1
old.maximum_version = ssl.TLSVersion.TLSv1_1
try:
    http.client.HTTPSConnection("localhost", port, context=old, timeout=60).connect()
    print("old TLS accepted")
except (ssl.SSLError, OSError):
    print("old TLS refused")
