import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";

test("a missing reference of a resource of one's own type is reported with its place", async () => {
  const label = FieldDescriptorProto_Label.OPTIONAL;
  const file = create(FileDescriptorProtoSchema, {
    name: "acme/hop.proto",
    package: "acme",
    syntax: "proto3",
    dependency: ["envoy/config/route/v3/route_components.proto"],
    messageType: [
      {
        name: "Hop",
        field: [
          { name: "name", jsonName: "name", number: 1, type: FieldDescriptorProto_Type.STRING, label },
          {
            name: "action",
            jsonName: "action",
            number: 2,
            type: FieldDescriptorProto_Type.MESSAGE,
            typeName: ".envoy.config.route.v3.RouteAction",
            label,
          },
        ],
      },
    ],
  });
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
  const hop = '"@type": type.googleapis.com/acme.Hop\nname: a\naction:\n  cluster: nowhere\n';
  await using folder = await testFolder({ "a.yaml": hop });
  await using elsewhere = await testFolder({ "settings.yaml": "descriptors: [acme.binpb]\n" });
  await writeFile(join(elsewhere.path, "acme.binpb"), set);
  const settings = join(elsewhere.path, "settings.yaml");
  const { status, out } = await inProcessEnds("validate", folder.path, "--settings", settings);
  assert.equal(status, 0, out);
  assert.match(out, /^warning: .*a\.yaml:4:\d+: .*action\.cluster: .*"nowhere".*\[XDSKIT_DANGLING_REFERENCE\]$/m);
});
