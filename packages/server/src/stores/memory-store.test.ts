import { createMemoryStore } from "./memory-store.js";
import { describeStore } from "./store-contract.js";

describeStore({ name: "memory", create: createMemoryStore });
