"""A Service in front of replicas: connections go to them in turn, and to another where one does not listen.
   balance.py PORT_FILE PORT..."""
import itertools
import socket
import sys
import threading


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for each in (source, target):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client, ports):
    for port in ports:
        try:
            server = socket.create_connection(("127.0.0.1", port), 2)
        except OSError:
            continue
        server.settimeout(None)
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        return copy(client, server)
    client.close()


ports = [int(each) for each in sys.argv[2:]]
listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1], "w") as file:
    file.write(str(listener.getsockname()[1]))
for turn in itertools.count():
    connection, _ = listener.accept()
    order = ports[turn % len(ports):] + ports[:turn % len(ports)]
    threading.Thread(target=serve, args=(connection, order), daemon=True).start()
