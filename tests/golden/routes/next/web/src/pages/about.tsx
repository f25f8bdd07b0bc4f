export { default } from '../about';
