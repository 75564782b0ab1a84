"""Stands before a gateway that is busy: of the first 18 requests two of three are refused, with
Retry-After, and of one change that is made the answer is lost. Prints the keys of the changes.

    busy.py PORT ADDRESS
"""

import http.client
import http.server
import sys

port, behind = int(sys.argv[1]), sys.argv[2]
state = {"requests": 0, "lost": False}


class Busy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        state["requests"] += 1
        if state["requests"] <= 18 and state["requests"] % 3:
            text = b'{"output":"Busy.","result":[],"error":{"code":"too_busy","message":"Busy.","outcome":"none"}}'
            self.send_response(429 if state["requests"] % 3 == 1 else 503)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            return
        connection = http.client.HTTPConnection(behind, timeout=60)
        connection.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
        answer = connection.getresponse()
        text = answer.read()
        key = self.headers.get("Idempotency-Key")
        if key:
            print(key, answer.status, answer.headers.get("Idempotency-Replayed"), flush=True)
            if not state["lost"]:
                state["lost"] = True
                self.close_connection = True
                self.connection.close()
                return
        self.send_response(answer.status)
        for name in ("Content-Type", "Retry-After"):
            if answer.headers.get(name):
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_DELETE = serve

    def log_message(self, *arguments):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Busy).serve_forever()
