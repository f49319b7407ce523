import { describeStore } from "../suite/store-contract.js";
import { createMemoryStore } from "./memory-store.js";

describeStore({ name: "memory", create: createMemoryStore });
