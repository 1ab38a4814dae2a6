"""Addresses of a network namespace at ports of this machine's loopback, until it is ended.

    forward.py /proc/PID/ns/net FIRST_PORT NAME=HOST:PORT…     prints "NAME PORT" for each; where FIRST_PORT + i is taken, a free one

Its sockets that listen stay in the namespace that made them; what it opens afterwards is in the other one.
"""
import asyncio
import ctypes
import os
import socket
import sys

CLONE_NEWNET = 0x40000000


def listen(port):
    for number in (port, 0):
        try:
            return socket.create_server(("127.0.0.1", number), backlog=128)
        except OSError:
            if number == 0:
                raise


async def pass_on(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def serve(client_in, client_out, host, port):
    try:
        service_in, service_out = await asyncio.open_connection(host, port)
        await asyncio.gather(pass_on(client_in, service_out), pass_on(service_in, client_out))
        service_out.close()
    except OSError:
        pass
    client_out.close()


async def main(namespace, first, targets):
    sockets = []
    for i, target in enumerate(targets):
        name, place = target.split("=")
        sockets.append((name, *place.rsplit(":", 1), listen(first + i)))
    handle = os.open(namespace, os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(handle, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"{namespace} cannot be entered")
    for name, host, port, own in sockets:
        await asyncio.start_server(lambda r, w, h=host, p=port: serve(r, w, h, int(p)), sock=own)
        print(name, own.getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
