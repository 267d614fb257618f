// Three processes on one database. What frontends load is changed on the first while the other two are asked 2,000 times a
// second: no answer to a request that starts after a change was answered may be older than the change.
import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { type Person, headersOf, proxySecret } from '../kit/app.ts'
import { createScratchDatabase } from '../kit/databases.ts'
import { postQuery } from '../kit/graphql.ts'
import { loadSize } from '../kit/load-sizes.ts'
import { startProcess } from '../kit/process.ts'
import { type SeededProject, seedProject, seedTenant, seedUser } from '../kit/seed.ts'
import { type TimedAnswer, startSteady } from '../kit/steady.ts'

const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname

/** What is changed, over and over, each time to the next number. */
type Subject = 'project' | 'leaf' | 'pack'
type Change = { askedAt: number; answeredAt: number }
/** One answer, with the number it shows of each subject. */
type Seen = { startedAt: number; answeredAt: number; shown: Partial<Record<Subject, number>> }
type Changes = Record<Subject, Change[]>

/** Answers that show less than what was answered before they were asked for. */
const staleOnes = (seen: readonly Seen[], changes: Changes): Seen[] =>
  seen.filter(({ startedAt, shown }) =>
    Object.entries(shown).some(([subject, number]) => {
      const made = changes[subject as Subject].findLastIndex((change) => change.answeredAt < startedAt)
      return number < made + 1
    }),
  )

/** Answers that show what nobody had asked for yet. */
const prematureOnes = (seen: readonly Seen[], changes: Changes): Seen[] =>
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

async function prepare(databaseUrl: string, program?: string): Promise<World> {
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

/** Sets the subject to its next number on the first process. */
async function change({ urls, admin, ids }: World, changes: Changes, subject: Subject): Promise<void> {
  const made: Change = { askedAt: performance.now(), answeredAt: Number.POSITIVE_INFINITY }
  changes[subject].push(made)
  const pairs = [{ Key: subject, Value: String(changes[subject].length) }]
  const text = subject === 'pack' ? changePack : changeSettings
  const { error } = await postQuery(urls[0] as string, headersOf(admin), text, { id: ids[subject], pairs })
  if (error !== null) throw new Error(error)
  made.answeredAt = performance.now()
}

/** A call to the second or third process, and how its answer is read. */
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
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body}`)
  const answer = JSON.parse(body) as {
    messages?: { pack?: string }
    config?: { key_value_pairs: { key: string; value: string }[] }
  }
  if (answer.messages !== undefined) return { pack: Number(answer.messages.pack ?? 0) }
  const pairs = new Map(answer.config?.key_value_pairs.map(({ key, value }) => [key, Number(value)]))
  const isOfLeaf = pairs.has('leaf')
  return { project: pairs.get('project') ?? 0, ...(isOfLeaf ? { leaf: pairs.get('leaf') ?? 0 } : {}) }
}

/** Asks at the rate for so long, and changes one subject after the other meanwhile. */
async function run(world: World, perSecond: number, seconds: number) {
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
  const until = performance.now() + seconds * 1_000
  for (let n = 0; performance.now() < until; n++) {
    await change(world, changes, (['project', 'leaf', 'pack'] as const)[n % 3] as Subject)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await load.stop()
  return { seen, changes, count: Object.values(changes).flat().length }
}

describe('the check itself', () => {
  test('finds an answer that is older than the request, and one that shows the future', () => {
    const changes = { project: [{ askedAt: 1, answeredAt: 2 }], leaf: [], pack: [] } as Changes
    const late = { startedAt: 3, answeredAt: 4, shown: { project: 0 } }
    const meanwhile = { startedAt: 1.5, answeredAt: 4, shown: { project: 0 } }
    const right = { startedAt: 3, answeredAt: 4, shown: { project: 1 } }
    expect(staleOnes([late, meanwhile, right], changes)).toEqual([late])
    const early = { startedAt: 0, answeredAt: 0.5, shown: { project: 1 } }
    expect(prematureOnes([early, right, { ...right, shown: { project: 2 } }], changes)).toHaveLength(2)
  })

  test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
    const database = await createScratchDatabase()
    const world = await prepare(database.url, plantedCache)
    let [stale, all] = [0, 0]
    for (let i = 0; i < 10 && stale === 0; i++) {
      const { seen, changes } = await run(world, 500, 2)
      stale += staleOnes(seen, changes).length
      all += seen.length
    }
    world.stop()
    await database.drop()
    process.stdout.write(`planted 50 ms cache: stale=${stale} of ${all} answers\n`)
    expect(stale).toBeGreaterThan(0)
  })
})

describe('freshness', () => {
  test(
    '[frontend-config.tenant] [language-packs.serve] a change answered by one process is seen by every request that starts after it on the others',
    { timeout: 120_000 },
    async () => {
      const database = await createScratchDatabase()
      const world = await prepare(database.url)
      // The planted cache is found in two seconds.
      const { seen, changes, count } = await run(world, 2_000, loadSize(10, 20))
      world.stop()
      await database.drop()
      const stale = staleOnes(seen, changes)
      process.stdout.write(`freshness: stale=${stale.length} of ${seen.length} answers, ${count} changes\n`)
      expect(stale).toEqual([])
      expect(prematureOnes(seen, changes)).toEqual([])
      // How many there are is the machine's; the planted cache is found among fewer.
      expect(seen.length).toBeGreaterThan(5_000)
      expect(count).toBeGreaterThan(20)
    },
  )
})
