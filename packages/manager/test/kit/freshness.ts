// Starts three processes that share one database. Frontend data is changed through the first process while clients
// read it from the other two. A request that starts after a completed change must never return older data.
import { Pool } from 'pg'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { startProcess } from '@manager/harness/process.ts'
import { type SeededProject, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'
import { type TimedAnswer, startSteady } from '@manager/harness/steady.ts'

/**
 * Values that tests increment repeatedly. They belong to the project's settings, to an application's settings in a
 * tenant (`leaf`), and to a language pack.
 */
type Subject = 'project' | 'leaf' | 'pack'
type Change = { askedAt: number; answeredAt: number }
/** A response, with the number that it shows for each subject. */
type Seen = { startedAt: number; answeredAt: number; shown: Partial<Record<Subject, number>> }
export type Changes = Record<Subject, Change[]>

/** Returns responses that do not show a change that was completed before their request started. */
export const findStaleResponses = (seen: readonly Seen[], changes: Changes): Seen[] =>
  seen.filter(({ startedAt, shown }) =>
    Object.entries(shown).some(([subject, number]) => {
      const made = changes[subject as Subject].findLastIndex((change) => change.answeredAt < startedAt)
      return number < made + 1
    }),
  )

/** Returns responses that show a change before it was requested. */
export const findPrematureResponses = (seen: readonly Seen[], changes: Changes): Seen[] =>
  seen.filter(({ answeredAt, shown }) =>
    Object.entries(shown).some(([subject, number]) => {
      const change = changes[subject as Subject][number - 1]
      return number > 0 && (change === undefined || change.askedAt > answeredAt)
    }),
  )

type World = {
  urls: string[]
  admin: Person
  project: SeededProject
  otherTenantId: string
  ids: Record<Subject, string>
  stop: () => void
}

export async function prepareFreshness(databaseUrl: string, program?: string): Promise<World> {
  const processes = await Promise.all(
    [undefined, program, program].map((file) => startProcess(databaseUrl, {}, { program: file })),
  )
  const urls = processes.map(({ url }) => url)
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const admin = await seedUser(sql, 'admin', 'administrator')
  const project = await seedProject(sql, 'fresh')
  const otherTenantId = crypto.randomUUID()
  await seedTenant(sql, project.id, otherTenantId, 'other')
  await sql.query(
    'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values (gen_random_uuid(), $1, $2, $3, true)',
    [project.id, otherTenantId, project.applicationId],
  )
  await sql.end()
  const { data, error } = await postQuery(
    urls[0] as string,
    headersOf(admin),
    `mutation($row: ID!, $project: ID!) {
      leaf: ensureTenant2ApplicationSettings(tenant2ApplicationId: $row) { id }
      pack: createLanguagePack(projectId: $project, input: {name: "de"}) { id }
    }`,
    { row: project.tenant2ApplicationId, project: project.id },
  )
  if (error !== null) throw new Error(error)
  const own = await postQuery(
    urls[0] as string,
    headersOf(admin),
    'query($id: ID!) { settings(project: $id) { id } }',
    { id: project.id },
  )
  const ids = { project: own.data.settings.id, leaf: data.leaf.id, pack: data.pack.id } as World['ids']
  const stop = (): void => processes.forEach(({ child }) => child.kill('SIGKILL'))
  return { urls, admin, project, otherTenantId, ids, stop }
}

const changePack = `mutation($id: ID!, $pairs: [KeyValuePairInput!]!) {
  updateLanguagePackContent(id: $id, input: {content: $pairs}) { id }
}`
const changeSettings = `mutation($id: ID!, $pairs: [KeyValuePairInput!]!) {
  updateFrontendModuleConfig(id: $id, input: {KeyValuePairs: $pairs}) { id }
}`

/** Sets the subject to its next number through the first process. */
async function change({ urls, admin, ids }: World, changes: Changes, subject: Subject): Promise<void> {
  const made: Change = { askedAt: performance.now(), answeredAt: Number.POSITIVE_INFINITY }
  changes[subject].push(made)
  const pairs = [{ Key: subject, Value: String(changes[subject].length) }]
  const text = subject === 'pack' ? changePack : changeSettings
  const { error } = await postQuery(urls[0] as string, headersOf(admin), text, { id: ids[subject], pairs })
  if (error !== null) throw new Error(error)
  made.answeredAt = performance.now()
}

/** Returns the next request, which is for the second or third process. */
function nextCall({ urls, project, otherTenantId }: World, turn: number) {
  const url = urls[1 + (turn % 2)]
  const config = `/api/frontend-config/${project.applicationId}`
  const paths = [
    `${config}/${project.tenantId}`,
    `${config}/${otherTenantId}`,
    `${config}/${project.tenantId}`,
    `/language-packs/${project.applicationId}/de`,
    config,
    `/language-packs/${project.applicationId}/de-AT`,
  ]
  return { url: `${url}${paths[(turn >> 1) % paths.length]}`, headers: { 'x-proxy-auth': proxySecret } }
}

function shownBy({ status, body }: TimedAnswer, url: string): Seen['shown'] {
  if (status !== 200) throw new Error(`${url} returned ${status}: ${body}`)
  const answer = JSON.parse(body) as {
    messages?: { pack?: string }
    config?: { key_value_pairs: { key: string; value: string }[] }
  }
  if (answer.messages !== undefined) return { pack: Number(answer.messages.pack ?? 0) }
  const pairs = new Map(answer.config?.key_value_pairs.map(({ key, value }) => [key, Number(value)]))
  const isOfLeaf = pairs.has('leaf')
  return { project: pairs.get('project') ?? 0, ...(isOfLeaf ? { leaf: pairs.get('leaf') ?? 0 } : {}) }
}

/** Reads at the given rate and changes the subjects in rotation until enough responses and changes are recorded. */
export async function readWhileChanging(
  world: World,
  perSecond: number,
  { answers, minChanges }: { answers: number; minChanges: number },
) {
  const changes: Changes = { project: [], leaf: [], pack: [] }
  for (const subject of ['project', 'leaf', 'pack'] as const) await change(world, changes, subject)
  const seen: Seen[] = []
  let turn = 0
  const load = startSteady(perSecond, () => {
    const call = nextCall(world, turn++)
    return {
      call,
      onAnswer: (answer) => {
        const { startedAt, answeredAt } = answer
        seen.push({ startedAt, answeredAt, shown: shownBy(answer, call.url) })
      },
    }
  })
  for (let n = 0; seen.length < answers || n < minChanges; n++) {
    await change(world, changes, (['project', 'leaf', 'pack'] as const)[n % 3] as Subject)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await load.stop()
  return { seen, changes, count: Object.values(changes).flat().length }
}
