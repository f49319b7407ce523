import { readFileSync } from "node:fs";
import { readResources } from "../../files/resource-file.js";

// Reads its input as a file of the path in its argument, and writes what is wrong with it.
const { findings } = readResources({ path: process.argv[2] ?? "", bytes: readFileSync(0) });
process.stdout.write(JSON.stringify(findings));
