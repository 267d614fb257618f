// Tests the meaning of null in every update mutation of the schema. Null clears a nullable field and leaves
// any other field unchanged, like an omitted field.
import { type GraphQLInputObjectType, buildSchema, getNamedType, isNonNullType, isObjectType } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { seedSpecification } from './kit/deployments.ts'
import { seedEndpoint, seedEndpointAccess } from './kit/endpoints.ts'
import { useProject } from './kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { seedTrigger } from './kit/triggers.ts'

const { service, admin, project } = useProject()

type Values = Record<string, unknown>
type Update = {
  /** Creates a row and returns its id. */
  make: () => Promise<string> | string
  /** A non-default value for each field of the input. */
  full: Values
  /** The field of the result that contains the values, if it is nested. */
  within?: string
}

const made = async (mutation: string): Promise<string> => {
  const { data, error } = await service.query(admin, `mutation { row: ${mutation} { id } }`)
  if (error !== null) throw new Error(error)
  return data.row.id as string
}
const settingsId = async (): Promise<string> =>
  (await service.query(admin, `{ row: settings(project: "${project.id}") { id } }`)).data.row.id as string

const pairs = [{ Key: 'a', Value: 'b' }]
const updates: Record<string, Update> = {
  updateProject: { make: () => project.id, full: { name: 'n', slug: 'updated' } },
  updateTenant: {
    make: () => project.tenantId,
    full: { name: 'n', slug: 'updated', deploymentMode: 'dedicated' },
  },
  updateTenantRoleDefinition: {
    make: () =>
      made(
        `createTenantRoleDefinition(tenantId: "${project.tenantId}", input: {name: "r", permissions: []})`,
      ),
    full: { name: 'n', permissions: ['apps.read'] },
  },
  updateApplication: {
    make: () => project.applicationId,
    full: { name: 'n', slug: 'updated', description: 'd' },
  },
  updateTenant2Application: { make: () => project.tenant2ApplicationId, full: { enabled: false } },
  updateBackendModuleConfig: {
    make: settingsId,
    full: { EnabledModules: ['m'], KeyValuePairs: pairs },
    within: 'moduleConfig',
  },
  updateFrontendModuleConfig: {
    make: settingsId,
    full: {
      EnabledThemes: ['t'],
      DefaultTheme: 't',
      EnabledLocales: ['de'],
      DefaultLocale: 'de',
      KeyValuePairs: pairs,
    },
    within: 'moduleConfig',
  },
  updateMachineUser: {
    make: async () => (await seedMachineUser(service.sql, project)).id,
    full: { name: 'n', enabled: false },
  },
  updateEndpoint: {
    make: () => seedEndpoint(service.sql, project),
    full: {
      name: 'n',
      description: 'd',
      enabled: false,
      consumeURL: '/updated',
      url: 'https://partner.example/updated',
      authType: 'Basic',
      authUsername: 'u',
      inputMessageType: 'XML',
      outputMessageType: 'XML',
      transformationTemplate: '{{.Data}}',
      logLevel: 'FULL',
    },
  },
  updateTrigger: {
    make: () => seedTrigger(service.sql, project),
    full: { name: 'n', description: 'd', cronExpression: '@hourly', runKey: 'k', enabled: false },
  },
  updateDeploymentSpecification: {
    make: () => seedSpecification(service.sql, project),
    full: {
      workload: 'other/name',
      image: 'other:2',
      version: '2',
      minReplicas: 2,
      maxReplicas: 5,
      port: 9_090,
      healthPath: '/ready',
      readinessTimeoutSeconds: 30,
    },
  },
  updateMachineUser2Endpoint: {
    make: async () => {
      const endpointId = await seedEndpoint(service.sql, project)
      const machineUserId = (await seedMachineUser(service.sql, project)).id
      return seedEndpointAccess(service.sql, { projectId: project.id, endpointId, machineUserId })
    },
    full: { enabled: false },
  },
}

// Excluded fields. Some are rejected regardless of their value (machine users), and some are not stored at
// all. Others are write-only, so null keeps the stored value (endpoints).
const withoutValue = new Set([
  'hashedKey',
  'tokenPrefix',
  'clearTokenPrefix',
  'authPassword',
  'authToken',
  'expectedRevision',
])
/** Fields that null clears although they are not nullable: an endpoint without a template has an empty one. */
const emptied: Record<string, unknown> = { transformationTemplate: '' }

type Mutation = { input: GraphQLInputObjectType; nullable: Set<string>; selection: string }
const mutations = new Map<string, Mutation>()

beforeAll(() => {
  const schema = buildSchema(service.app.describe().schema)
  for (const [name, { args, type }] of Object.entries(schema.getMutationType()?.getFields() ?? {})) {
    const given = args.find((arg) => arg.name === 'input')
    if (!name.startsWith('update') || given === undefined) continue
    const input = getNamedType(given.type) as GraphQLInputObjectType
    // Skip inputs whose fields are all required, because a caller cannot omit any of them.
    const values = Object.values(input.getFields()).filter((field) => !withoutValue.has(field.name))
    if (values.every((field) => isNonNullType(field.type))) continue
    const within = updates[name]?.within
    let row = getNamedType(type)
    if (within !== undefined && isObjectType(row))
      row = getNamedType((row.getFields()[within] as { type: typeof row }).type)
    if (!isObjectType(row)) throw new Error(`${name} returns no object`)
    const fields = Object.values(row.getFields())
    const nullable = new Set(fields.filter((field) => !isNonNullType(field.type)).map((field) => field.name))
    const names = Object.keys(updates[name]?.full ?? {}).map((field) =>
      field === 'KeyValuePairs' ? 'KeyValuePairs { Key Value }' : field,
    )
    const selection = within === undefined ? names.join(' ') : `${within} { ${names.join(' ')} }`
    mutations.set(name, { input, nullable, selection })
  }
})

async function update(name: string, id: string, input: Values): Promise<Values> {
  const { input: type, selection } = mutations.get(name) as Mutation
  const { data, error } = await service.query(
    admin,
    `mutation($id: ID!, $input: ${type.name}!) { row: ${name}(id: $id, input: $input) { ${selection} } }`,
    { id, input },
  )
  if (error !== null) throw new Error(`${name} ${JSON.stringify(input)}: ${error}`)
  const within = updates[name]?.within
  return (within === undefined ? data.row : data.row[within]) as Values
}

describe('null in an update', () => {
  test('is tried for every update mutation and every field of its input', () => {
    expect([...mutations.keys()].toSorted()).toEqual(Object.keys(updates).toSorted())
    for (const [name, { input }] of mutations)
      expect({
        [name]: Object.keys(input.getFields()).filter((field) => !withoutValue.has(field)),
      }).toEqual({ [name]: Object.keys((updates[name] as Update).full) })
  })

  test.each(Object.keys(updates))(
    '%s: absent leaves, null clears a nullable field and leaves any other',
    async (name) => {
      const { make, full } = updates[name] as Update
      const { nullable } = mutations.get(name) as Mutation
      const id = await make()
      expect(await update(name, id, full)).toEqual(full)
      expect(await update(name, id, {})).toEqual(full)
      for (const field of Object.keys(full)) {
        const cleared = nullable.has(field)
          ? { [field]: null }
          : field in emptied
            ? { [field]: emptied[field] }
            : {}
        expect(await update(name, id, { [field]: null })).toEqual({ ...full, ...cleared })
        expect(await update(name, id, full)).toEqual(full)
      }
    },
  )
})
