// Reads the SDL of the service from its files, so that types can be generated before the app compiles.
import { globSync, readFileSync } from 'node:fs'
import { Kind, parse, print } from 'graphql'
import { addConnections } from '../src/platform/graphql/connections.ts'
import { permissionSdl } from '../src/policy/permissions.ts'

const src = new URL('../src/', import.meta.url).pathname
const listFeatureFiles = (): string[] => globSync('features/*/*.graphql', { cwd: src }).toSorted()
const readSource = (file: string): string => readFileSync(src + file, 'utf8')

export function readAllSdl(): string {
  const files = ['platform/graphql/common.graphql', 'policy/policy.graphql', ...listFeatureFiles()]
  return print(addConnections(parse([permissionSdl, ...files.map(readSource)].join('\n'))))
}

/** Returns the TypeScript type of each GraphQL type with `@row`, in the code generator's notation. */
export function readRowTypes(): Record<string, string> {
  const rows: Record<string, string> = {}
  for (const file of listFeatureFiles())
    for (const node of parse(readSource(file)).definitions) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
      const row = node.directives?.find(({ name }) => name.value === 'row')?.arguments?.[0]?.value
      if (row?.kind !== Kind.STRING) continue
      const [module = '', type = ''] = row.value.split('#')
      rows[node.name.value] = `../${file.replace(/[^/]+$/, '')}${module}.ts#${type} as ${type}Row`
    }
  return rows
}
