import type { Message } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { describeSource } from "../../testing/source-contract.js";
import { createMemorySource } from "./memory-source.js";

describeSource({
  name: "memory",
  async create(messages) {
    const resources = (of: readonly Message[]) => of.map((message) => createResource(message));
    const source = createMemorySource({ name: "memory", layer: "default", resources: resources(messages) });
    return {
      source,
      set: async (changed) => source.set(resources(changed)),
      dispose: async () => {},
    };
  },
});
