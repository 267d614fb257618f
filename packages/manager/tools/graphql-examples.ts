// Example operations of the GraphQL reference: a document that selects the plain fields, and variables for its arguments.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'

/** Values by the name of an argument or input field; others follow from the type. */
const samples: Record<string, unknown> = {
  slug: 'example',
  projectSlug: 'example',
  name: 'Example',
  roleName: 'viewer',
  role: 'developer',
  cronExpression: '@daily',
  hashedKey: '__GENERATE_TOKEN__',
  consumeURL: '/orders',
  url: 'https://partner.example/orders',
  locale: 'en',
  image: 'registry.example/shop:1.0.0',
  version: '1.0.0',
  workload: 'shop',
}
const sampleId = '00000000-0000-7000-8000-000000000001'

/** A document and its variables as JSON. */
export function exampleOf(root: 'Query' | 'Mutation', field: GraphQLField<unknown, unknown>) {
  const used = field.args.filter(isRequiredArgument)
  const variables = Object.fromEntries(used.map((one) => [one.name, valueOf(one)]))
  const declared = used.map((one) => `$${one.name}: ${String(one.type)}`).join(', ')
  const passed = used.map(({ name }) => `${name}: $${name}`).join(', ')
  const keyword = root === 'Query' ? 'query' : 'mutation'
  const opening = used.length === 0 ? keyword : `${keyword} (${declared})`
  const call = used.length === 0 ? field.name : `${field.name}(${passed})`
  const lines = [`${opening} {`, `  ${call}${selectionOf(field.type)}`, '}']
  return { document: lines.join('\n'), variables: JSON.stringify(variables, null, 2) }
}

/** The plain fields of an object. Of an object without any, those of the objects in it. */
function selectionOf(type: GraphQLOutputType, indent = '  '): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).filter(({ args }) => !args.some(isRequiredArgument))
  const plain = fields.filter(({ type: inner }) => isLeafType(getNamedType(inner)))
  const lines = (plain.length > 0 ? plain : fields).map(
    ({ name, type: inner }) => `${indent}  ${name}${selectionOf(inner, `${indent}  `)}\n`,
  )
  return ` {\n${lines.join('')}${indent}}`
}

const valueOf = ({ name, type }: GraphQLArgument | GraphQLInputField): unknown => sampleOf(name, type)

function sampleOf(name: string, type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(name, type.ofType)
  if (isListType(type)) return [sampleOf(name, type.ofType)]
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    const required = fields.filter(isRequiredInputField)
    const chosen = required.length > 0 ? required : fields.slice(0, 1)
    return Object.fromEntries(chosen.map((field) => [field.name, valueOf(field)]))
  }
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (type.name === 'ID') return sampleId
  if (type.name === 'Boolean') return true
  if (type.name === 'Int' || type.name === 'Float') return 1
  return samples[name] ?? 'example'
}
