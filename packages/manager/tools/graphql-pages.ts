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
import { createExample } from './graphql-examples.ts'
import { readAllSdl } from './sdl.ts'

type Area = {
  title: string
  files: readonly string[]
  guide?: readonly [string, string]
  /** Operations that are shown as examples; by default the first query and the first mutation. */
  exampleNames?: readonly string[]
}
type Policy = { do: Permission; on: string[]; also: string[]; in: string }
type Operation = { root: 'Query' | 'Mutation'; field: FieldDefinitionNode }
type Constraint = readonly [code: string, message: string]
type Feature = { name: string; constraints?: Record<string, Constraint> }
type AreaContents = { operations: Operation[]; types: string[]; constraints: Constraint[] }

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
    exampleNames: ['users', 'addUserToProject'],
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
    exampleNames: ['effectiveSettings'],
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
    files: ['endpoints/endpoints', 'endpoints/endpoint-access', 'endpoints/preview', 'gateway/test-calls'],
    guide: ['Call a partner from a backend', '../../guides/backends/call-a-partner.md'],
  },
  'call-log': {
    title: 'Logged calls',
    files: ['call-log/logged-calls', 'call-log/call-series'],
    guide: ['Why did my call fail?', '../../guides/backends/why-did-my-call-fail.md'],
  },
  triggers: {
    title: 'Triggers and their runs',
    files: ['triggers/triggers', 'triggers/run-series'],
    guide: ['Schedule calls', '../../guides/backends/schedule-calls.md'],
  },
  backends: {
    title: 'Registered backends',
    files: ['backends/backends'],
    guide: ['Register a backend and send heartbeats', '../../guides/backends/register.md'],
  },
  deployments: {
    title: 'Deployments and their specifications',
    files: ['deployments/deployments'],
    exampleNames: ['deploymentSpecifications', 'createDeploymentSpecification', 'wakeDeployment'],
  },
  notifications: {
    title: 'Notifications',
    files: ['inbox/inbox', 'notifications/notification-counts'],
    guide: ['Show notifications in a page', '../../guides/frontends/show-notifications.md'],
    exampleNames: ['myUnreadNotifications'],
  },
  pilets: {
    title: 'Pilet packages and feeds',
    files: ['pilets/pilets', 'pilet-feed/pilet-feed', 'pilet-feed/pilet-usage'],
    guide: ['Publish a pilet', '../../guides/frontends/publish-a-pilet.md'],
  },
  search: {
    title: 'Search',
    files: ['search/search'],
    guide: ['Find an object by its id', `${guides}/find-an-object.md`],
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
export async function renderGraphqlPages(): Promise<Record<string, string>> {
  const listedFiles = new Set(
    Object.values(areas).flatMap(({ files }) => files.map((file) => `${file}.graphql`)),
  )
  const missingFiles = globSync('*/*.graphql', { cwd: src }).filter((file) => !listedFiles.has(file))
  if (missingFiles.length > 0) throw new Error(`schema files without an area: ${missingFiles.join(', ')}`)
  const schema = buildSchema(readAllSdl())
  const pages: Record<string, string> = {}
  for (const [name, area] of Object.entries(areas))
    pages[name] = printArea(schema, area, await readArea(area.files))
  return pages
}

async function readArea(files: readonly string[]): Promise<AreaContents> {
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
  const constraints = await Promise.all([...folders].map(loadConstraints))
  return { operations, types, constraints: constraints.flat() }
}

const isFeature = (value: unknown): value is Feature =>
  typeof value === 'object' && value !== null && 'name' in value && 'create' in value

async function loadConstraints(folder: string): Promise<Constraint[]> {
  const module = (await import(`${src}${folder}/index.ts`)) as Record<string, unknown>
  const feature = Object.values(module).find(isFeature)
  return Object.values(feature?.constraints ?? {})
}

function printArea(
  schema: GraphQLSchema,
  { title, guide, exampleNames }: Area,
  contents: AreaContents,
): string {
  const { operations, types, constraints } = contents
  const [queries, mutations] = (['Query', 'Mutation'] as const).map((root) =>
    operations.filter((one) => one.root === root),
  ) as [Operation[], Operation[]]
  const task = guide === undefined ? '' : ` [${guide[0]}](${guide[1]}) shows a task step by step.`
  return [
    `# GraphQL: ${title.toLowerCase().replaceAll('esb', 'ESB')}`,
    '',
    '<!-- Generated by `npm run generate`; do not edit. -->',
    '',
    'This page lists the queries, mutations and types in this area.',
    `[GraphQL API](../graphql.md) has the rules for lists, limits and responses.${task}`,
    '',
    ...printExample(
      schema,
      exampleNames === undefined ? [queries[0], mutations[0]] : findByName(operations, exampleNames),
    ),
    ...printOperations(schema, 'Queries', queries),
    ...printOperations(schema, 'Mutations', mutations),
    ...printErrors(constraints),
    '## Types',
    '',
    ...types.flatMap((name) => printType(schema, schema.getType(name) as GraphQLNamedType)),
  ].join('\n')
}

const findByName = (operations: readonly Operation[], names: readonly string[]): Operation[] =>
  operations.filter(({ field }) => names.includes(field.name.value))

function printExample(schema: GraphQLSchema, chosen: readonly (Operation | undefined)[]): string[] {
  const examples = chosen
    .filter((one) => one !== undefined)
    .map(({ root, field }) => createExample(root, findField(schema, root, field)))
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

const findField = (
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
      printOperation(findField(schema, operation.root, operation.field), operation),
    ),
  ]
}

function printOperation(field: GraphQLField<unknown, unknown>, { root, field: node }: Operation): string[] {
  const policy = readPolicy(node)
  const auditRows = (readDirective(node, 'audited')?.['as'] ?? []) as string[]
  return [
    `### \`${field.name}\``,
    '',
    ...renderParagraph(field.description),
    '```graphql',
    renderSignature(field),
    '```',
    '',
    `- Permission: \`${policy.do}\`${renderScope(policy)}; ${describeRoles(policy.do)}`,
    ...(root === 'Mutation' ? [`- Audit rows: ${auditRows.length > 0 ? auditRows.join(', ') : 'none'}`] : []),
    `- Errors: ${listErrors(root, field, policy)
      .map((code) => `\`${code}\``)
      .join(', ')}`,
    ...(typeof field.deprecationReason === 'string' ? [`- Deprecated: ${field.deprecationReason}`] : []),
    '',
  ]
}

function renderSignature({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const line = `${name}${renderArgumentList({ args })}: ${String(type)}`
  if (line.length <= 100) return line
  return `${name}(\n${renderArguments({ args })
    .map((one) => `  ${one}\n`)
    .join('')}): ${String(type)}`
}

type FieldArguments = Pick<GraphQLField<unknown, unknown>, 'args'>

const renderArguments = ({ args }: FieldArguments): string[] =>
  args.map((one) => `${one.name}: ${String(one.type)}`)

const renderArgumentList = (field: FieldArguments): string =>
  field.args.length === 0 ? '' : `(${renderArguments(field).join(', ')})`

function readDirective(node: FieldDefinitionNode, name: string): Record<string, unknown> | undefined {
  const directive = node.directives?.find((one) => one.name.value === name)
  return (
    directive &&
    Object.fromEntries(
      (directive.arguments ?? []).map((one) => [one.name.value, valueFromASTUntyped(one.value)]),
    )
  )
}

function readPolicy(node: FieldDefinitionNode): Policy {
  const { do: permission, on = [], also = [], in: scope } = readDirective(node, 'can') ?? {}
  return {
    do: permission as Permission,
    on: [on].flat() as string[],
    also: [also].flat() as string[],
    in: scope as string,
  }
}

const renderScope = ({ on, also, in: scope }: Policy): string =>
  [...on, ...also].length === 0
    ? ''
    : ` for the ${scope.toLowerCase().replaceAll('_', ' ')} that ${[...on, ...also].map((name) => `\`${name}\``).join(' and ')} names`

const describeRoles = (permission: Permission): string => {
  const roles = describeRequirement(permissions[permission])
  return roles.startsWith('system role') ? roles : roles.replace(/, or system role administrator$/, '')
}

/**
 * Returns the error codes that follow from the declaration. Any mutation can return `conflict` because of a constraint.
 */
function listErrors(
  root: Operation['root'],
  { args }: GraphQLField<unknown, unknown>,
  { do: permission, on }: Policy,
): string[] {
  const isForEveryone = permissions[permission].system === 'user'
  return [
    ...(args.length === 0 ? [] : ['bad_request']),
    'unauthenticated',
    ...(isForEveryone ? [] : ['forbidden']),
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
    'Mutations in this area can also return these errors. [Errors](../errors.md) explains every code.',
    '',
    '| code | message |',
    '| --- | --- |',
    ...rows,
    '',
  ]
}

const renderParagraph = (text: string | null | undefined): string[] =>
  text === null || text === undefined || text === '' ? [] : [toInlineText(text), '']

const toInlineText = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()

function printType(schema: GraphQLSchema, type: GraphQLNamedType): string[] {
  const heading = [`### ${type.name}`, '', ...renderParagraph(type.description)]
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
  const descriptions = readDescriptions(schema, type)
  const hasDescriptions = Object.values(descriptions).some((text) => text !== '')
  const rows = Object.values(type.getFields()).map((field) => {
    const args = 'args' in field ? renderArgumentList(field) : ''
    const name = `| \`${field.name}${args}\` | \`${String(field.type)}\` |`
    return hasDescriptions ? `${name} ${descriptions[field.name] ?? ''} |` : name
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
function readDescriptions(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLInputObjectType,
): Record<string, string> {
  const objectType = schema.getType(type.name.replace(/^(Create|Update)/, '').replace(/Input$/, ''))
  const objectFields = isInputObjectType(type) && isObjectType(objectType) ? objectType.getFields() : {}
  return Object.fromEntries(
    Object.values(type.getFields()).map(({ name, description }) => [
      name,
      toInlineText(description ?? objectFields[name]?.description ?? ''),
    ]),
  )
}
