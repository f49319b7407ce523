export * from "../../../api/src/testing/effort.js";
