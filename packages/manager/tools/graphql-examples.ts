// Builds the example operations of the GraphQL reference: a document that selects the plain fields, and variables for
// its arguments.
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

/** Sample values by name of the argument or input field. All other values are derived from the type. */
const samples: Record<string, unknown> = {
  slug: 'example',
  projectSlug: 'example',
  name: 'Example',
  roleName: 'viewer',
  role: 'developer',
  email: 'ann@acme.example',
  cronExpression: '@daily',
  runKey: 'nightly-report',
  hashedKey: '__GENERATE_TOKEN__',
  consumeURL: '/orders',
  url: 'https://partner.example/orders',
  locale: 'en',
  image: 'registry.example/shop:1.0.0',
  version: '1.0.0',
  workload: 'shop',
}
/** Optional input fields that examples include, because the object is hardly useful without them. */
const includedOptions = new Set(['runKey'])

/** Returns a document and its variables as JSON. */
export function createExample(root: 'Query' | 'Mutation', field: GraphQLField<unknown, unknown>) {
  const requiredArguments = field.args.filter(isRequiredArgument)
  const ids = sampleIds()
  const variables = Object.fromEntries(requiredArguments.map((one) => [one.name, createValue(one, ids)]))
  const declarations = requiredArguments.map((one) => `$${one.name}: ${String(one.type)}`).join(', ')
  const argumentList = requiredArguments.map(({ name }) => `${name}: $${name}`).join(', ')
  const keyword = root === 'Query' ? 'query' : 'mutation'
  const opening = requiredArguments.length === 0 ? keyword : `${keyword} (${declarations})`
  const call = requiredArguments.length === 0 ? field.name : `${field.name}(${argumentList})`
  const lines = [`${opening} {`, `  ${call}${renderSelection(field.type)}`, '}']
  return { document: lines.join('\n'), variables: JSON.stringify(variables, null, 2) }
}

/** Selects the leaf fields of an object. If it has none, selects the leaf fields of its nested objects. */
function renderSelection(type: GraphQLOutputType, indent = '  '): string {
  const objectType = getNamedType(type)
  if (!isObjectType(objectType)) return ''
  const fields = Object.values(objectType.getFields()).filter(({ args }) => !args.some(isRequiredArgument))
  const leafFields = fields.filter(({ type: inner }) => isLeafType(getNamedType(inner)))
  const lines = (leafFields.length > 0 ? leafFields : fields).map(
    ({ name, type: inner }) => `${indent}  ${name}${renderSelection(inner, `${indent}  `)}\n`,
  )
  return ` {\n${lines.join('')}${indent}}`
}

/** Yields a different id for each argument, because the arguments identify different objects. */
function* sampleIds(): Generator<string, never> {
  for (let number = 1; ; number += 1) yield `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

type Ids = ReturnType<typeof sampleIds>

const createValue = ({ name, type }: GraphQLArgument | GraphQLInputField, ids: Ids): unknown =>
  createSample(name, type, ids)

function createSample(name: string, type: GraphQLInputType, ids: Ids): unknown {
  if (isNonNullType(type)) return createSample(name, type.ofType, ids)
  if (isListType(type)) return [createSample(name, type.ofType, ids)]
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    const requiredFields = fields.filter(
      (field) => isRequiredInputField(field) || includedOptions.has(field.name),
    )
    const includedFields = requiredFields.length > 0 ? requiredFields : fields.slice(0, 1)
    return Object.fromEntries(includedFields.map((field) => [field.name, createValue(field, ids)]))
  }
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (type.name === 'ID') return ids.next().value
  if (type.name === 'Boolean') return true
  if (type.name === 'Int' || type.name === 'Float') return 1
  return samples[name] ?? 'example'
}
