// These tests count the SQL statements that requests for feeds and bundles run.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { requestThroughProxy, ifNoneMatch } from '../../../test/kit/cached-responses.ts'
import { isVersionRead } from '../../../test/kit/counted-statements.ts'
import { whileLocked } from '../../../test/kit/locks.ts'
import { addPackages, setLayer } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service, project } = useProject()
beforeAll(async () => {
  await addPackages(
    service.sql,
    project.id,
    Array.from({ length: 60 }, (_, n) => ({ name: `p${n}`, version: '1.0.0' })),
  )
  await setLayer(service.sql, project, 'project', { modules: Array.from({ length: 50 }, (_, n) => `p${n}`) })
})

const bundle = (name: string): string =>
  `/pilet-bundle/${project.applicationId}/${project.id}/${encodeURIComponent(name)}/1.0.0`
const feeds = (): string[] => {
  const { applicationId, tenantId } = project
  return [`/pilet-feed/${applicationId}`, `/pilet-feed/${applicationId}/${tenantId}`]
}
/** Runs concurrent requests that must all return this status, and returns their SQL statements. */
async function statementsOf(
  status: number,
  paths: readonly string[],
  call: Parameters<typeof requestThroughProxy>[2] = {},
): Promise<string[]> {
  service.statements.length = 0
  const answers = await Promise.all(paths.map((path) => requestThroughProxy(service, path, call)))
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]))
  return [...service.statements]
}
/** Expects exactly one statement, which reads the version. */
const expectVersionRead = (statements: string[]): void =>
  expect([statements.length, statements.filter(isVersionRead).length]).toEqual([1, 1])
const touch = () => service.sql.query("update applications set name = 'touched ' || random()")

test('a feed is built by one statement, and a warm one costs one read of the version', async () => {
  for (const path of feeds()) {
    const built = await statementsOf(200, [path])
    expect(built).toHaveLength(1)
    expect(built[0]).toContain('from pilet_packages')
    expectVersionRead(await statementsOf(200, [path]))
    expectVersionRead(await statementsOf(304, [path], ifNoneMatch('*')))
    expectVersionRead(await statementsOf(200, [path], { method: 'HEAD' }))
  }
})

test('feeds of many places that are asked for together share statements', async () => {
  const places = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => (await seedProject(service.sql, `place-${n}`)).applicationId),
  )
  const paths = places.map((id) => `/pilet-feed/${id}`)
  const built = await whileLocked(service.database.url, ['lock table applications', []], async (release) => {
    const answered = statementsOf(200, paths)
    const inFlight = async () =>
      (await service.world.metrics.registry.getSingleMetric('svc_http_inflight')?.get())?.values[0]?.value
    await expect.poll(inFlight, { timeout: 30_000 }).toBe(paths.length)
    await release()
    return answered
  })
  expect(built.filter((text) => text.includes('from pilet_packages')).length).toBeLessThan(paths.length)
})

test('a bundle costs one statement and its bytes; a warm one costs one read of the version and no bytes', async () => {
  const path = bundle('p0')
  const cold = await statementsOf(200, [path])
  expect(cold.map((text) => text.includes('blob_chunks'))).toEqual([false, true])
  expectVersionRead(await statementsOf(200, [path]))
  expectVersionRead(await statementsOf(304, [path], ifNoneMatch('*')))
  expectVersionRead(await statementsOf(200, [path], { method: 'HEAD' }))
  // Any change to the project discards the decision, but not the cached bytes.
  await touch()
  expect((await statementsOf(200, [path])).some((text) => text.includes('blob_chunks'))).toBe(false)
})

test('a rejection is remembered as a bundle is, and costs no statement where no package can have the name', async () => {
  for (const path of [bundle('p55'), bundle('nothing')]) {
    expect(await statementsOf(404, [path])).toHaveLength(1)
    expectVersionRead(await statementsOf(404, [path]))
  }
  const foreign = bundle('p0').replace(project.id, randomUUID())
  await statementsOf(404, [foreign])
  expectVersionRead(await statementsOf(404, [foreign]))
  for (const name of ['NO', 'a b', '..', '\0', 'x'.repeat(215)])
    expect(await statementsOf(404, [bundle(name)])).toEqual([])
  const unknown = `/pilet-bundle/${randomUUID()}/${project.id}/p0/1.0.0`
  for (let round = 0; round < 2; round++)
    expect(
      (await statementsOf(404, [unknown])).filter((text) => text.includes('from pilet_packages')),
    ).toHaveLength(1)
})

test('keys cost one statement', async () => {
  for (let round = 0; round < 2; round++)
    expect(await statementsOf(200, [`/pilet-keys/${project.applicationId}`])).toHaveLength(1)
})
