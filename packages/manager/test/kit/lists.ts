// Helpers for list tests: a project with one row of every type, and a function to query any list of the
// schema. Introspection finds all lists.
import { expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './app.ts'
import { seedBackend } from './backends.ts'
import { seedSpecification } from './deployments.ts'
import { seedEndpoint, seedEndpointAccess } from './endpoints.ts'
import { seedCall } from './esb-calls.ts'
import { createRule, seedGroup } from './groups.ts'
import { seedInvitation } from './invitations.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { createScimToken } from './scim.ts'
import { seedPilet } from './seeded-pilets.ts'
import {
  type SeededProject,
  seedAccessToken,
  seedMachineUser,
  seedMember,
  seedProject,
  seedUser,
} from '@manager/harness/seed.ts'
import { seedTrigger } from './triggers.ts'

export type TypeRef = { kind: string; name: string | null; ofType: TypeRef | null }
type Field = { name: string; type: TypeRef; args: { name: string; type: TypeRef }[] }
type ObjectType = { name: string; kind: string; fields: Field[] | null }
type Args = {
  filters?: { field: string; value: string } | { field: string; value: string }[]
  order?: { field: string; direction?: string } | { field: string; direction?: string }[]
  pagination?: { limit: number; offset: number }
}
type ListField = Field & {
  parent: string
  of: ObjectType
  /** The field that contains the rows if the query returns an object with a count. */
  rowsIn?: string
}

export const reference = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }'

/** Formats a type in the schema language. */
export function formatType({ kind, name, ofType }: TypeRef): string {
  if (kind === 'NON_NULL') return `${formatType(ofType as TypeRef)}!`
  if (kind === 'LIST') return `[${formatType(ofType as TypeRef)}]`
  return name as string
}

export type ListKit = {
  service: TestApp
  admin: Person
  main: SeededProject
  /**
   * Every field of the schema that is a list of rows. Fields of Query have their own name, others have the form
   * `Type.field`.
   */
  lists: Map<string, ListField>
  /** Queries one list at any position in the schema. Its rows are in `data.rows`. */
  ask: (list: string, args: Args) => Promise<GraphqlAnswer>
  /** Queries the connection that corresponds to a list. */
  askConnection: (list: string, args: Args & { after?: string | null | undefined }) => Promise<GraphqlAnswer>
  publishedFields: (list: string) => Promise<string[]>
  tenantsOf: (projectSlug: string, args: Args, field?: string) => Promise<string[]>
  seedTenants: (slug: string, tenants: { slug: string; name?: string; mode?: string }[]) => Promise<void>
}

/** Starts a service with one row of every type. Close its `service` afterwards. */
export async function createListKit(): Promise<ListKit> {
  const service = await startTestApp()
  const admin = await seedUser(service.sql, 'admin', 'administrator')
  const main = await seedProject(service.sql, 'main')
  await seedMember(service.sql, admin, 'owner', { projectId: main.id })
  await seedMember(service.sql, admin, 'owner', { projectId: main.id, tenantId: main.tenantId })
  await seedMember(service.sql, admin, 'normal', { projectId: main.id, applicationId: main.applicationId })
  await service.query(admin, 'mutation($id: ID!) { updateProject(id: $id, input: {name: "Main"}) { id } }', {
    id: main.id,
  })
  await seedAccessToken(service.sql, admin)
  const expiringId = await seedAccessToken(service.sql, admin)
  await service.sql.query(
    "update personal_access_tokens set expires_at = now() + interval '1 day' where id = $1",
    [expiringId],
  )
  const { id: machineUserId } = await seedMachineUser(service.sql, main)
  await service.sql.query("update machine_users set created_at = '2020-01-01' where id = $1", [machineUserId])
  const endpointId = await seedEndpoint(service.sql, main)
  await seedEndpointAccess(service.sql, { projectId: main.id, endpointId, machineUserId })
  await seedCall(service.sql, { projectId: main.id, endpointId, machineUserId }, { requestId: 'listed' })
  await seedPilet(service.sql, main, { name: 'listed' })
  await seedTrigger(service.sql, main)
  await seedSpecification(service.sql, main)
  for (const kind of ['project', 'tenant', 'application'] as const)
    await seedInvitation(service.sql, main, {
      kind,
      inviter: admin,
      role: kind === 'tenant' ? 'member' : 'readonly',
    })
  await seedBackend(service.sql, main)
  await createScimToken(service, admin)
  const groupId = await seedGroup(service, 'listed', [admin.id])
  await createRule(service, admin, { groupId, projectId: main.id, role: 'tester' })
  await service.query(
    admin,
    'mutation($id: ID!) { createLanguagePack(projectId: $id, input: {name: "de"}) { id } }',
    { id: main.id },
  )
  const lists = await findLists(service, admin)

  const paging = 'filters: $filters, order: $order, pagination: $pagination'
  const page = '{ nodes { id } pageInfo { hasNextPage endCursor } totalCount isTotalExact }'

  async function ask(list: string, args: Args): Promise<GraphqlAnswer> {
    const { name, rowsIn } = lists.get(list) as ListField
    const answer = await select(list, args, (named) => {
      const rows = rowsIn === undefined ? '{ id }' : `{ ${rowsIn} { id } }`
      return `rows: ${name}(${named} ${paging}) ${rows}`
    })
    const { data } = answer
    return { ...answer, data: rowsIn === undefined || data === null ? data : { rows: data.rows[rowsIn] } }
  }

  const askConnection = (
    list: string,
    args: Args & { after?: string | null | undefined },
  ): Promise<GraphqlAnswer> =>
    select(
      list,
      args,
      (named) => `rows: ${lists.get(list)?.name}Connection(${named} ${paging}, after: $after) ${page}`,
    )

  /** Queries a field as an administrator, with the arguments that identify its parent. */
  async function select(
    list: string,
    args: Args,
    createField: (namedArguments: string) => string,
  ): Promise<GraphqlAnswer> {
    const { parent, args: declared } = lists.get(list) as ListField
    const parents: Record<string, string> = {
      projectSlug: main.slug,
      projectId: main.id,
      projectID: main.id,
      project: main.id,
      tenantId: main.tenantId,
      tenant: main.tenantId,
      applicationId: main.applicationId,
      application: main.applicationId,
      environment: main.environmentId,
      endpoint: endpointId,
      group: groupId,
      // The search text that userProviderSearch requires.
      name: 'admin',
    }
    const named = declared
      .filter((argument) => argument.name in parents)
      .map((argument) => `${argument.name}: "${parents[argument.name]}",`)
    const field = createField(named.join(' '))
    const paths: Record<string, string> = {
      Project: `project(slug: "${main.slug}")`,
      Application: `application(projectId: "${main.id}", slug: "${main.applicationSlug}")`,
      User: 'me',
    }
    expect(['Query', ...Object.keys(paths)]).toContain(parent)
    const body = parent === 'Query' ? field : `parent: ${paths[parent]} { ${field} }`
    const signature = '$filters: [Filter!], $order: [Order!], $pagination: Pagination'
    const cursor = field.includes('$after') ? ', $after: String' : ''
    const answer = await service.query(admin, `query(${signature}${cursor}) { ${body} }`, args)
    return { ...answer, data: answer.data?.parent ?? answer.data }
  }

  /** Returns the fields by which callers can filter and order a list. */
  async function publishedFields(list: string): Promise<string[]> {
    const { error } = await ask(list, { filters: { field: 'nonsense', value: 'x' } })
    const [, names] = /^unknown filter field "nonsense"; allowed: (\w+(?:, \w+)*)$/.exec(error ?? '') ?? []
    if (names === undefined) throw new Error(`${list} does not list its fields; it returned ${error}`)
    return names.split(', ')
  }

  /** Returns one field of each tenant of a project. */
  async function tenantsOf(projectSlug: string, args: Args, field = 'slug'): Promise<string[]> {
    const { data, error } = await service.query(
      admin,
      `query($projectSlug: String!, $filters: [Filter!], $order: [Order!], $pagination: Pagination) {
        tenants(projectSlug: $projectSlug, filters: $filters, order: $order, pagination: $pagination) { ${field} }
      }`,
      { projectSlug, ...args },
    )
    expect(error).toBeNull()
    return (data.tenants as Record<string, string>[]).map((tenant) => tenant[field] as string)
  }

  /** Seeds a project with exactly these tenants. */
  async function seedTenants(
    slug: string,
    tenants: { slug: string; name?: string; mode?: string }[],
  ): Promise<void> {
    const { id, tenantId } = await seedProject(service.sql, slug)
    await service.sql.query('delete from tenants where id = $1', [tenantId])
    for (const { slug: own, name, mode } of tenants)
      await service.sql.query(
        `insert into tenants (id, project_id, slug, name, deployment_mode)
         values (gen_random_uuid(), $1, $2, $3, $4)`,
        [id, own, name ?? own, mode ?? 'shared'],
      )
  }

  return { service, admin, main, lists, ask, askConnection, publishedFields, tenantsOf, seedTenants }
}

/** These lists accept only a limit. The limit of `hits` is an argument of its parent field. */
const limitOnlyLists = new Set(['triggerRuns', 'hits'])
/** Lists that are wrapped in an object. Maps the name of the object type to the query that returns it. */
const wrappedLists: Record<string, string> = { PiletPackages: 'piletPackages' }

/** Finds every list of objects with ids by its return type, regardless of its arguments. */
async function findLists(service: TestApp, admin: Person): Promise<Map<string, ListField>> {
  const lists = new Map<string, ListField>()
  const { data } = await service.query(
    admin,
    `{ schema: __schema { types { name kind fields { name type { ${reference} } args { name type { ${reference} } } } } } }`,
  )
  const types = data.schema.types as ObjectType[]
  for (const { name: parent, fields } of types)
    for (const field of fields ?? []) {
      const of = types.find(
        (type) => type.name === formatType(field.type).replace(/[[\]!]/g, ''),
      ) as ObjectType
      const isList =
        formatType(field.type).startsWith('[') && of.fields?.some(({ name }) => name === 'id') === true
      // A mutation returns the objects that it has changed, not a list that callers page through.
      if (parent === 'Mutation') continue
      // A connection has a cursor instead of pages.
      if (parent.endsWith('Connection')) continue
      if (!isList || parent.startsWith('__') || limitOnlyLists.has(field.name)) continue
      const query = wrappedLists[parent]
      const root = types.find(({ name }) => name === 'Query')?.fields?.find(({ name }) => name === query)
      if (root !== undefined)
        lists.set(root.name, { ...root, type: field.type, parent: 'Query', of, rowsIn: field.name })
      else lists.set(parent === 'Query' ? field.name : `${parent}.${field.name}`, { ...field, parent, of })
    }
  return lists
}
