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
export function generateClientRestTypes(openapi: string): string {
  const { paths, components } = JSON.parse(openapi) as Document
  const schemaNames = new Set<string>()
  const sources: string[] = []
  const addType = (name: string, content: Content | undefined): void => {
    const schema = content?.content?.['application/json']?.schema
    if (schema !== undefined) sources.push(`export type ${name} = ${renderType(schema, schemaNames)}`)
  }
  for (const { operationId = '', requestBody, responses } of listOperations(paths)) {
    const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
    addType(`${name}Body`, requestBody)
    const successStatus = Object.keys(responses).find((status) => status.startsWith('2'))
    if (successStatus !== undefined) addType(`${name}Answer`, responses[successStatus])
  }
  // The loop also visits names that it adds to the set.
  for (const name of schemaNames)
    sources.push(`export type ${name} = ${renderType(components.schemas[name] as Schema, schemaNames)}`)
  return sources.toSorted().join('\n')
}

const listOperations = (paths: Document['paths']): Operation[] =>
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId !== undefined)

function renderType(schema: Schema, schemaNames: Set<string>): string {
  const { $ref, anyOf, items } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    schemaNames.add(name)
    return name
  }
  if (anyOf !== undefined) return anyOf.map((one) => renderType(one, schemaNames)).join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `readonly (${renderType(items ?? {}, schemaNames)})[]`
  if (schema.type === 'object') return renderObject(schema, schemaNames)
  if (schema.type === 'integer') return 'number'
  return schema.type ?? 'unknown'
}

function renderObject({ properties = {}, required = [], ...rest }: Schema, schemaNames: Set<string>): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const comment =
      schema.description === undefined ? '' : `/** ${schema.description.replaceAll('*/', '')} */\n`
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${comment}readonly ${key}${required.includes(name) ? '' : '?'}: ${renderType(schema, schemaNames)}`
  })
  const [pattern] = Object.values(rest.patternProperties ?? {})
  if (pattern !== undefined) fields.push(`readonly [key: string]: ${renderType(pattern, schemaNames)}`)
  else if (fields.length === 0) return 'Readonly<Record<string, unknown>>'
  return `{ ${fields.join('\n')} }`
}
