import { testEnvoy } from "./envoy-suite.js";

testEnvoy("per-type-sotw");
