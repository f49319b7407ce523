#!/usr/bin/env node
import { main } from "xdskit";

await main(process.argv.slice(2));
