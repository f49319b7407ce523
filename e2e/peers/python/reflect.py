"""Asks a server by reflection for its services, builds the descriptors of each, and prints a line for each: "NAME METHODS"."""

import sys

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

with grpc.insecure_channel(sys.argv[1]) as channel:
    database = ProtoReflectionDescriptorDatabase(channel)
    pool = DescriptorPool(database)
    for name in sorted(database.get_services()):
        service = pool.FindServiceByName(name)
        print(name, ",".join(f"{method.name}({method.input_type.full_name})" for method in service.methods), flush=True)
