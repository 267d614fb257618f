import { readFileSync } from 'node:fs'

/** The published package has its files beside package.json, the repository has them in src. */
const manifest = import.meta.url.endsWith('.ts') ? '../package.json' : './package.json'

/** The release of the program. */
export const { version } = JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')) as {
  version: string
}
