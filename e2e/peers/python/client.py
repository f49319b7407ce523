"""Calls an xds:/// target over and over and prints a line for each call: "ok NAME" or "fail CODE MESSAGE"."""

import os
import sys
import threading
import time

import grpc


def exit_when_input_closes() -> None:
    sys.stdin.read()
    os._exit(0)


def name_of(reply: bytes) -> str:
    """The value of a google.protobuf.StringValue shorter than 128 bytes."""
    return reply[2:].decode()


def main() -> None:
    target, interval = sys.argv[1], int(sys.argv[2]) / 1000
    threading.Thread(target=exit_when_input_closes, daemon=True).start()
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary("/xdskit.e2e.Echo/Name")
        while True:
            try:
                print("ok", name_of(call(b"", timeout=10)), flush=True)
            except grpc.RpcError as error:
                print("fail", error.code().name, repr(error.details()), flush=True)
            time.sleep(interval)


main()
