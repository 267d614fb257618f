import { readFileSync } from 'node:fs'

const manifest = new URL('../package.json', import.meta.url)

/** The release of the program. */
export const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
