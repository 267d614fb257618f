// A scene for search tests: two projects with an object of every kind, each with a text that contains "quokka".
import { randomUUID } from 'node:crypto'
import { beforeAll, expect } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { type SeededProject, seedBasicUser, seedMember } from '@manager/harness/seed.ts'
import type { TestApp } from './app.ts'
import { seedCall, seedCaller } from './esb-calls.ts'
import { useProject } from './project.ts'
import { seedPilet } from './seeded-pilets.ts'
import { seedRuns, seedTrigger } from './triggers.ts'

export type Hit = Record<string, string | null> & { kind: string; id: string; title: string }
type SearchArgs = { kinds?: readonly string[]; projectId?: string; limit?: number }
/** Ids of the objects of a project, by kind. */
type Objects = Record<string, string>

/** The kinds of project objects that a text search can find. */
export const textKinds =
  'application endpoint languagePack machineUser piletPackage project tenant trigger'.split(' ')
const fields = `kind id title subtitle matchedField projectId applicationId environmentId endpointId triggerId`

/** Starts a service with the scene before the tests of a file. */
export function useSearch() {
  const scene = useProject({ withOther: true })
  const { service, project, other, person } = scene
  const [own, others]: [Objects, Objects] = [{}, {}]
  const [reader, tenantMember, applicationMember] = [{} as Person, {} as Person, {} as Person]
  beforeAll(async () => {
    Object.assign(own, await seedObjects(service, project))
    Object.assign(others, await seedObjects(service, other))
    const { id: projectId, tenantId, applicationId } = project
    Object.assign(reader, await person('quokka-reader'))
    await seedMember(service.sql, reader, 'readonly', { projectId })
    Object.assign(tenantMember, await person('tenant-only'))
    await seedMember(service.sql, tenantMember, 'member', { projectId, tenantId })
    Object.assign(applicationMember, await person('application-only'))
    await seedMember(service.sql, applicationMember, 'readonly', { projectId, applicationId })
  })
  const search = (caller: Person, text: string, args: SearchArgs = {}): Promise<GraphqlAnswer> =>
    service.query(
      caller,
      `query($text: String!, $kinds: [String!], $projectId: ID, $limit: Int) {
        found: search(text: $text, kinds: $kinds, projectId: $projectId, limit: $limit) { isComplete hits { ${fields} } } }`,
      { text, ...args },
    )
  /** Returns all hits. */
  async function find(caller: Person, text: string, args: SearchArgs = {}): Promise<Hit[]> {
    const { data, error } = await search(caller, text, { limit: 50, ...args })
    expect([text, error, data?.found.isComplete]).toEqual([text, null, true])
    return data.found.hits as Hit[]
  }
  return { ...scene, own, others, reader, tenantMember, applicationMember, search, find }
}

export const kindsOf = (hits: readonly Hit[]): string[] => hits.map(({ kind }) => kind).toSorted()

async function seedObjects({ sql }: TestApp, of: SeededProject): Promise<Objects> {
  const rename = (table: string, id: string, name: string) =>
    sql.query(`update ${table} set name = $2 where id = $1`, [id, name])
  await rename('projects', of.id, `Quokka project of ${of.slug}`)
  await rename('tenants', of.tenantId, `Quokka tenant of ${of.slug}`)
  await rename('applications', of.applicationId, `Quokka application of ${of.slug}`)
  const caller = await seedCaller(sql, of)
  await rename('endpoints', caller.endpointId, `Quokka endpoint of ${of.slug}`)
  const trigger = await seedTrigger(sql, of)
  await sql.query(`update triggers set name = $2, run_key = 'nightly-quokka' where id = $1`, [
    trigger,
    `Quokka trigger of ${of.slug}`,
  ])
  const runOf = { projectId: of.id, applicationId: of.applicationId, triggerId: trigger }
  await seedRuns(sql, { ...runOf, environmentId: of.environmentId }, { count: 1, until: new Date() })
  await seedBasicUser(sql, of, 'quokka-user')
  await sql.query(`update machine_users set name = 'Quokka backend' where username = 'quokka-user'`)
  await seedPilet(sql, of, { name: '@quokka/menu', version: '2.0.0' })
  const languagePack = randomUUID()
  await sql.query(`insert into language_packs (id, project_id, name) values ($1, $2, 'quokka')`, [
    languagePack,
    of.id,
  ])
  const readId = async (text: string): Promise<string> =>
    (await sql.query<{ id: string }>(text, [of.id])).rows[0]?.id as string
  return {
    project: of.id,
    tenant: of.tenantId,
    application: of.applicationId,
    environment: of.environmentId,
    endpoint: caller.endpointId,
    trigger,
    triggerRun: await readId('select id from trigger_runs where project_id = $1'),
    machineUser: await readId(
      `select id from machine_users where project_id = $1 and username = 'quokka-user'`,
    ),
    languagePack,
    piletPackage: await readId('select id from pilet_packages where project_id = $1'),
    loggedCall: await seedCall(sql, caller, { requestId: 'quokka.call-1' }),
  }
}
