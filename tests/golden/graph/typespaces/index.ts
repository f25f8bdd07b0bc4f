export * from "./kinds";
export * from "./schema";
