// Generates TypeScript types for REST routes from the OpenAPI document: <Operation>Body and <Operation>Answer for each
// operation with a JSON body, and the schemas that they reference.

type Schema = {
  $ref?: string
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean
  description?: string
}
type Content = { content?: Record<string, { schema?: Schema }> }
type Operation = { operationId?: string; requestBody?: Content; responses: Record<string, Content> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Returns the module with all types. */
export function clientRestTypes(openapi: string): string {
  const { paths, components } = JSON.parse(openapi) as Document
  const named = new Set<string>()
  const sources: string[] = []
  const add = (name: string, content: Content | undefined): void => {
    const schema = content?.content?.['application/json']?.schema
    if (schema !== undefined) sources.push(`export type ${name} = ${typeSource(schema, named)}`)
  }
  for (const { operationId = '', requestBody, responses } of operationsOf(paths)) {
    const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
    add(`${name}Body`, requestBody)
    const success = Object.keys(responses).find((status) => status.startsWith('2'))
    if (success !== undefined) add(`${name}Answer`, responses[success])
  }
  // The loop also visits names that it adds to the set.
  for (const name of named)
    sources.push(`export type ${name} = ${typeSource(components.schemas[name] as Schema, named)}`)
  return sources.toSorted().join('\n')
}

const operationsOf = (paths: Document['paths']): Operation[] =>
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId !== undefined)

function typeSource(schema: Schema, named: Set<string>): string {
  const { $ref, anyOf, items } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    named.add(name)
    return name
  }
  if (anyOf !== undefined) return anyOf.map((one) => typeSource(one, named)).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `readonly (${typeSource(items ?? {}, named)})[]`
  if (schema.type === 'object') return objectSource(schema, named)
  if (schema.type === 'integer') return 'number'
  return schema.type ?? 'unknown'
}

function objectSource({ properties = {}, required = [], ...rest }: Schema, named: Set<string>): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const note = schema.description === undefined ? '' : `/** ${schema.description.replaceAll('*/', '')} */\n`
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${note}readonly ${key}${required.includes(name) ? '' : '?'}: ${typeSource(schema, named)}`
  })
  const [pattern] = Object.values(rest.patternProperties ?? {})
  if (pattern !== undefined) fields.push(`readonly [key: string]: ${typeSource(pattern, named)}`)
  else if (fields.length === 0) return 'Readonly<Record<string, unknown>>'
  return `{ ${fields.join('\n')} }`
}
