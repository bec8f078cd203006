"""A balancer between a client and a real API server, plain HTTP on its own side: what people's networks do to streams.

It closes a connection over which nothing came for some seconds, in the middle of an answer. With buffers=True it keeps an answer,
its head too, until the server has ended it.
"""
import http.client
import http.server
import re
import socket
import ssl
import threading


class middleman:
    def __init__(self, kubeconfig, seconds=5, buffers=False):
        text = open(kubeconfig).read()
        self.token = re.search(r'token: "([^"]+)"', text).group(1)
        self.host, self.port = re.search(r'server: "https://([^:"]+):(\d+)"', text).groups()
        self.seconds = seconds
        self.buffers = buffers
        self.cut = 0
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def forward(self):
                outer.forward(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, to):
        length = int(to.headers.get("Content-Length") or 0)
        body = to.rfile.read(length) if length else None
        upstream = http.client.HTTPSConnection(self.host, int(self.port), context=ssl._create_unverified_context())
        headers = {k: v for k, v in to.headers.items() if k.lower() not in ("host", "connection", "content-length")}
        upstream.request(to.command, to.path, body, headers)
        got = upstream.getresponse()
        self.answered(to.command, to.path)
        if self.buffers:
            whole = got.read()
            try:
                self.begin(to, got)
                to.wfile.write((b"%x\r\n%s\r\n" % (len(whole), whole) if whole else b"") + b"0\r\n\r\n")
            except OSError:
                to.close_connection = True
            upstream.close()
            return
        upstream.sock.settimeout(self.seconds)
        self.begin(to, got)
        try:
            while piece := got.read1(65536):
                to.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                to.wfile.flush()
            to.wfile.write(b"0\r\n\r\n")
        except (TimeoutError, socket.timeout):
            self.cut += 1
            to.close_connection = True
            to.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            to.close_connection = True
        finally:
            upstream.close()

    def answered(self, method, path):
        """The server has done what was asked, and the client has not heard of it yet."""

    @staticmethod
    def begin(to, got):
        to.send_response(got.status)
        for name, value in got.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                to.send_header(name, value)
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()

    def kubeconfig(self, path):
        with open(path, "w") as f:
            f.write("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                    f"clusters: [{{name: c, cluster: {{server: \"{self.address}\"}}}}]\n"
                    f"users: [{{name: u, user: {{token: \"{self.token}\"}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n")
        return path
