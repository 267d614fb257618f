// All SDL of the service, read from the files themselves so that types can be generated before the app compiles.
import { globSync, readFileSync } from 'node:fs'

const src = new URL('../src/', import.meta.url).pathname

export function readAllSdl(): string {
  const files = [
    'platform/graphql/common.graphql',
    'policy/policy.graphql',
    ...globSync('features/*/*.graphql', { cwd: src }).toSorted(),
  ]
  return files.map((file) => readFileSync(src + file, 'utf8')).join('\n')
}
