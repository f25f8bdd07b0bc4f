export { default as Panel } from './Panel.svelte';
