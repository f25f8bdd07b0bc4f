export { default as Client, lookup as search } from "./api";
export * from "./base";
export * as types from "./types";
