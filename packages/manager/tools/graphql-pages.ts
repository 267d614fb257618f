// Prints docs/reference/graphql/, one page per area with its queries, mutations and types. Arguments, permissions and
// audit rows come from the schema files, errors from the constraints that the features declare, and examples from the
// types.
import { globSync, readFileSync } from 'node:fs'
import {
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type ObjectTypeExtensionNode,
  buildSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
  parse,
  valueFromASTUntyped,
} from 'graphql'
import { describeRequirement } from '../src/policy/authorize.ts'
import { type Permission, permissions } from '../src/policy/permissions.ts'
import { exampleOf } from './graphql-examples.ts'
import { readAllSdl } from './sdl.ts'

type Area = {
  title: string
  files: readonly string[]
  guide?: readonly [string, string]
  /** Operations that are shown as examples; by default the first query and the first mutation. */
  shown?: readonly string[]
}
type Policy = { do: Permission; on: string[]; also: string[]; in: string }
type Operation = { root: 'Query' | 'Mutation'; field: FieldDefinitionNode }
type Constraint = readonly [code: string, message: string]
type Feature = { name: string; constraints?: Record<string, Constraint> }
type Found = { operations: Operation[]; types: string[]; constraints: Constraint[] }

const src = new URL('../src/features/', import.meta.url).pathname
const guides = '../../guides/maintainers'
const areas: Record<string, Area> = {
  projects: {
    title: 'Projects and environments',
    files: ['projects/projects', 'environments/environments'],
    guide: ['Create a project', `${guides}/create-a-project.md`],
  },
  people: {
    title: 'People, members and roles',
    files: ['users/users', 'memberships/memberships', 'memberships/tenant-roles'],
    guide: ['Add a member', `${guides}/add-a-member.md`],
    shown: ['users', 'addUserToProject'],
  },
  tenants: {
    title: 'Tenants and their applications',
    files: ['tenants/tenants', 'applications/tenant2applications'],
    guide: ['Create a project', `${guides}/create-a-project.md`],
  },
  applications: { title: 'Applications', files: ['applications/applications'] },
  settings: {
    title: 'Settings',
    files: ['settings/settings'],
    guide: ['Change settings', `${guides}/change-settings.md`],
    shown: ['effectiveSettings'],
  },
  'language-packs': {
    title: 'Language packs',
    files: ['language-packs/language-packs'],
    guide: ['Translate a text', `${guides}/translate-a-text.md`],
  },
  'machine-users': {
    title: 'Machine users',
    files: ['machine-users/machine-users'],
    guide: ['Manage machine users', `${guides}/manage-machine-users.md`],
  },
  endpoints: {
    title: 'ESB endpoints and their access',
    files: ['endpoints/endpoints', 'endpoints/endpoint-access', 'endpoints/preview'],
    guide: ['Call a partner from a backend', '../../guides/backends/call-a-partner.md'],
  },
  'call-log': {
    title: 'Logged calls',
    files: ['call-log/logged-calls'],
    guide: ['Why did my call fail?', '../../guides/backends/why-did-my-call-fail.md'],
  },
  triggers: {
    title: 'Triggers and their runs',
    files: ['triggers/triggers'],
    guide: ['Schedule calls', '../../guides/backends/schedule-calls.md'],
  },
  deployments: { title: 'Deployment specifications', files: ['deployments/deployments'] },
  pilets: {
    title: 'Pilet packages',
    files: ['pilets/pilets'],
    guide: ['Publish a pilet', '../../guides/frontends/publish-a-pilet.md'],
  },
  'access-tokens': {
    title: 'Personal access tokens',
    files: ['access-tokens/access-tokens'],
    guide: ['Manage personal access tokens', `${guides}/manage-access-tokens.md`],
  },
  audit: {
    title: 'Audit trail',
    files: ['audit/audit'],
    guide: ['Export the audit trail', '../../guides/auditors/export-the-audit-trail.md'],
  },
}

/** Returns the pages by name. Throws if a schema file belongs to no area. */
export async function graphqlPages(): Promise<Record<string, string>> {
  const listed = new Set(Object.values(areas).flatMap(({ files }) => files.map((file) => `${file}.graphql`)))
  const missing = globSync('*/*.graphql', { cwd: src }).filter((file) => !listed.has(file))
  if (missing.length > 0) throw new Error(`schema files without an area: ${missing.join(', ')}`)
  const schema = buildSchema(readAllSdl())
  const pages: Record<string, string> = {}
  for (const [name, area] of Object.entries(areas))
    pages[name] = printArea(schema, area, await findAll(area.files))
  return pages
}

async function findAll(files: readonly string[]): Promise<Found> {
  const definitions = files.flatMap(
    (file) => parse(readFileSync(`${src}${file}.graphql`, 'utf8')).definitions,
  )
  const operations = definitions
    .filter((node): node is ObjectTypeExtensionNode => node.kind === Kind.OBJECT_TYPE_EXTENSION)
    .flatMap(({ name, fields = [] }) =>
      name.value === 'Query' || name.value === 'Mutation'
        ? fields.map((field): Operation => ({ root: name.value as Operation['root'], field }))
        : [],
    )
  const types = definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION ||
    node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ||
    node.kind === Kind.ENUM_TYPE_DEFINITION
      ? [node.name.value]
      : [],
  )
  const folders = new Set(files.map((file) => file.split('/')[0] as string))
  const constraints = await Promise.all([...folders].map(constraintsOf))
  return { operations, types, constraints: constraints.flat() }
}

const isFeature = (value: unknown): value is Feature =>
  typeof value === 'object' && value !== null && 'name' in value && 'create' in value

async function constraintsOf(folder: string): Promise<Constraint[]> {
  const module = (await import(`${src}${folder}/index.ts`)) as Record<string, unknown>
  const feature = Object.values(module).find(isFeature)
  return Object.values(feature?.constraints ?? {})
}

function printArea(schema: GraphQLSchema, { title, guide, shown }: Area, found: Found): string {
  const { operations, types, constraints } = found
  const [queries, mutations] = (['Query', 'Mutation'] as const).map((root) =>
    operations.filter((one) => one.root === root),
  ) as [Operation[], Operation[]]
  const task = guide === undefined ? '' : ` [${guide[0]}](${guide[1]}) shows a task step by step.`
  return [
    `# GraphQL: ${title.toLowerCase().replaceAll('esb', 'ESB')}`,
    '',
    '<!-- Generated by `npm run generate`; do not edit. -->',
    '',
    'This page lists the queries, mutations and types of this area.',
    `[GraphQL API](../graphql.md) has the rules for lists, limits and responses.${task}`,
    '',
    ...printExample(schema, shown === undefined ? [queries[0], mutations[0]] : namedOf(operations, shown)),
    ...printOperations(schema, 'Queries', queries),
    ...printOperations(schema, 'Mutations', mutations),
    ...printErrors(constraints),
    '## Types',
    '',
    ...types.flatMap((name) => printType(schema, schema.getType(name) as GraphQLNamedType)),
  ].join('\n')
}

const namedOf = (operations: readonly Operation[], names: readonly string[]): Operation[] =>
  operations.filter(({ field }) => names.includes(field.name.value))

function printExample(schema: GraphQLSchema, chosen: readonly (Operation | undefined)[]): string[] {
  const examples = chosen
    .filter((one) => one !== undefined)
    .map(({ root, field }) => exampleOf(root, fieldOf(schema, root, field)))
  return [
    '## Example',
    '',
    'Replace the ids with your own. [Call the GraphQL API](../../guides/maintainers/call-the-graphql-api.md) shows how to send a document.',
    '',
    ...examples.flatMap(({ document, variables }) => [
      '```graphql',
      document,
      '```',
      '',
      ...(variables === '{}' ? [] : ['```json', variables, '```', '']),
    ]),
  ]
}

const fieldOf = (
  schema: GraphQLSchema,
  root: Operation['root'],
  { name }: FieldDefinitionNode,
): GraphQLField<unknown, unknown> => {
  const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType()
  return type?.getFields()[name.value] as GraphQLField<unknown, unknown>
}

function printOperations(schema: GraphQLSchema, title: string, operations: readonly Operation[]): string[] {
  if (operations.length === 0) return []
  return [
    `## ${title}`,
    '',
    ...operations.flatMap((operation) =>
      printOperation(fieldOf(schema, operation.root, operation.field), operation),
    ),
  ]
}

function printOperation(field: GraphQLField<unknown, unknown>, { root, field: node }: Operation): string[] {
  const policy = policyOf(node)
  const audited = (directiveOf(node, 'audited')?.['as'] ?? []) as string[]
  return [
    `### \`${field.name}\``,
    '',
    ...paragraph(field.description),
    '```graphql',
    signatureOf(field),
    '```',
    '',
    `- Permission: \`${policy.do}\`${scopeText(policy)}; ${rolesOf(policy.do)}`,
    ...(root === 'Mutation' ? [`- Audit rows: ${audited.length > 0 ? audited.join(', ') : 'none'}`] : []),
    `- Errors: ${errorsOf(root, field, policy)
      .map((code) => `\`${code}\``)
      .join(', ')}`,
    ...(typeof field.deprecationReason === 'string' ? [`- Deprecated: ${field.deprecationReason}`] : []),
    '',
  ]
}

function signatureOf({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const line = `${name}${argumentsOf({ args })}: ${String(type)}`
  if (line.length <= 100) return line
  return `${name}(\n${listedArguments({ args })
    .map((one) => `  ${one}\n`)
    .join('')}): ${String(type)}`
}

type WithArguments = Pick<GraphQLField<unknown, unknown>, 'args'>

const listedArguments = ({ args }: WithArguments): string[] =>
  args.map((one) => `${one.name}: ${String(one.type)}`)

const argumentsOf = (field: WithArguments): string =>
  field.args.length === 0 ? '' : `(${listedArguments(field).join(', ')})`

function directiveOf(node: FieldDefinitionNode, name: string): Record<string, unknown> | undefined {
  const found = node.directives?.find((one) => one.name.value === name)
  return (
    found &&
    Object.fromEntries((found.arguments ?? []).map((one) => [one.name.value, valueFromASTUntyped(one.value)]))
  )
}

function policyOf(node: FieldDefinitionNode): Policy {
  const { do: permission, on = [], also = [], in: scope } = directiveOf(node, 'can') ?? {}
  return {
    do: permission as Permission,
    on: [on].flat() as string[],
    also: [also].flat() as string[],
    in: scope as string,
  }
}

const scopeText = ({ on, also, in: scope }: Policy): string =>
  [...on, ...also].length === 0
    ? ''
    : ` for the ${scope.toLowerCase().replaceAll('_', ' ')} that ${[...on, ...also].map((name) => `\`${name}\``).join(' and ')} names`

const rolesOf = (permission: Permission): string => {
  const roles = describeRequirement(permissions[permission])
  return roles.startsWith('system role') ? roles : roles.replace(/, or system role administrator$/, '')
}

/**
 * Returns the error codes that follow from the declaration. Any mutation can return `conflict` because of a constraint.
 */
function errorsOf(
  root: Operation['root'],
  { args }: GraphQLField<unknown, unknown>,
  { do: permission, on }: Policy,
): string[] {
  const isForAll = permissions[permission].system === 'user'
  return [
    ...(args.length === 0 ? [] : ['bad_request']),
    'unauthenticated',
    ...(isForAll ? [] : ['forbidden']),
    ...(on.length === 0 ? [] : ['not_found']),
    ...(root === 'Query' ? [] : ['conflict']),
    'unavailable',
  ]
}

function printErrors(constraints: readonly Constraint[]): string[] {
  if (constraints.length === 0) return []
  const rows = [...new Set(constraints.map(([code, message]) => `| \`${code}\` | ${message} |`))]
  return [
    '## Errors',
    '',
    'Mutations of this area also return these errors. [Errors](../errors.md) explains every code.',
    '',
    '| code | message |',
    '| --- | --- |',
    ...rows,
    '',
  ]
}

const paragraph = (text: string | null | undefined): string[] =>
  text === null || text === undefined || text === '' ? [] : [inline(text), '']

const inline = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()

function printType(schema: GraphQLSchema, type: GraphQLNamedType): string[] {
  const heading = [`### ${type.name}`, '', ...paragraph(type.description)]
  if (isEnumType(type))
    return [
      ...heading,
      `One of ${type
        .getValues()
        .map(({ name }) => `\`${name}\``)
        .join(', ')}.`,
      '',
    ]
  if (!isObjectType(type) && !isInputObjectType(type)) return []
  const described = describedFields(schema, type)
  const hasDescriptions = Object.values(described).some((text) => text !== '')
  const rows = Object.values(type.getFields()).map((field) => {
    const args = 'args' in field ? argumentsOf(field) : ''
    const name = `| \`${field.name}${args}\` | \`${String(field.type)}\` |`
    return hasDescriptions ? `${name} ${described[field.name] ?? ''} |` : name
  })
  const header = hasDescriptions
    ? ['| field | type | description |', '| --- | --- | --- |']
    : ['| field | type |', '| --- | --- |']
  return [...heading, ...header, ...rows, '']
}

/**
 * Returns the description of each field. An input field without a description uses the description from the object that
 * the input creates or updates.
 */
function describedFields(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLInputObjectType,
): Record<string, string> {
  const object = schema.getType(type.name.replace(/^(Create|Update)/, '').replace(/Input$/, ''))
  const shared = isInputObjectType(type) && isObjectType(object) ? object.getFields() : {}
  return Object.fromEntries(
    Object.values(type.getFields()).map(({ name, description }) => [
      name,
      inline(description ?? shared[name]?.description ?? ''),
    ]),
  )
}
