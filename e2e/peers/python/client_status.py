"""Asks a server by CSDS for client status, with no messages but those that reflection describes, and prints the answer as JSON.

usage: client_status.py ADDRESS [REQUEST], where REQUEST is a ClientStatusRequest as JSON
"""

import sys

import grpc
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

with grpc.insecure_channel(sys.argv[1]) as channel:
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    service = pool.FindServiceByName("envoy.service.status.v3.ClientStatusDiscoveryService")
    method = service.FindMethodByName("FetchClientStatus")
    request = message_factory.GetMessageClass(method.input_type)()
    json_format.Parse(sys.argv[2] if len(sys.argv) > 2 else "{}", request, descriptor_pool=pool)
    call = channel.unary_unary(
        f"/{service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    print(json_format.MessageToJson(call(request, timeout=20), descriptor_pool=pool))
