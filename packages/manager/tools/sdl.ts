// All SDL of the service, read from the files themselves so that types can be generated before the app compiles.
import { globSync, readFileSync } from 'node:fs'
import { Kind, parse } from 'graphql'
import { permissionSdl } from '../src/policy/permissions.ts'

const src = new URL('../src/', import.meta.url).pathname
const featureFiles = (): string[] => globSync('features/*/*.graphql', { cwd: src }).toSorted()
const read = (file: string): string => readFileSync(src + file, 'utf8')

export function readAllSdl(): string {
  const files = ['platform/graphql/common.graphql', 'policy/policy.graphql', ...featureFiles()]
  return [permissionSdl, ...files.map(read)].join('\n')
}

/** The TypeScript type behind each type with `@row`, as the code generator takes it. */
export function readRows(): Record<string, string> {
  const rows: Record<string, string> = {}
  for (const file of featureFiles())
    for (const node of parse(read(file)).definitions) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
      const row = node.directives?.find(({ name }) => name.value === 'row')?.arguments?.[0]?.value
      if (row?.kind !== Kind.STRING) continue
      const [module = '', type = ''] = row.value.split('#')
      rows[node.name.value] = `../${file.replace(/[^/]+$/, '')}${module}.ts#${type} as ${type}Row`
    }
  return rows
}
