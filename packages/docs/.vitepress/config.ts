export { config as default } from '../src/site.ts'
