// Counts the cost of requests: the SQL statements that they run and the responses that are built for them.
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { timedGet } from './http.ts'
import type { SeededProject } from '@manager/harness/seed.ts'

/** Returns how often a response was built, in one cache or in all caches. */
async function missesOf(service: TestApp, cache?: string): Promise<number> {
  const { values } = await service.world.metrics.cacheRequests.get()
  return values
    .filter(({ labels }) => labels.outcome === 'miss' && (cache === undefined || labels.cache === cache))
    .reduce((sum, { value }) => sum + value, 0)
}

export const isVersionRead = (text: string): boolean =>
  text.includes('project_versions') && !text.includes('from applications')

/** Creates the language pack `de`, which one of the paths requests. */
export async function addLanguagePack(service: TestApp, admin: Person, projectId: string): Promise<void> {
  const { error } = await service.query(
    admin,
    'mutation($id: ID!) { createLanguagePack(projectId: $id, input: {name: "de"}) { id } }',
    { id: projectId },
  )
  expect(error).toBeNull()
}

/**
 * Returns functions that request cached responses. If the service sheds load, it must recover within
 * `timeout`.
 */
export function useCountedResponses(
  agent: Agent,
  scene: () => { service: TestApp; project: SeededProject },
  timeout: number,
) {
  const paths = () => {
    const { project } = scene()
    return [
      `/api/frontend-config/${project.applicationId}/${project.tenantId}`,
      `/api/frontend-config/${project.applicationId}`,
      `/language-packs/${project.applicationId}/de`,
      `/pilet-feed/${project.applicationId}/${project.tenantId}`,
      `/pilet-feed/${project.applicationId}`,
    ]
  }
  const headers = { 'x-proxy-auth': proxySecret }
  const statusOf = async (path: string): Promise<number> =>
    (await timedGet(agent, `${scene().service.url}${path}`, headers)).status

  /** Sends `count` concurrent requests and returns their cost. `change` runs before the requests. */
  async function ask(
    path: string,
    count: number,
    change = () => Promise.resolve(),
  ): Promise<{ built: number; statements: string[] }> {
    const { service } = scene()
    const builds = () => missesOf(service)
    for (let tries = 0; ; tries++) {
      await change()
      const before = await builds()
      service.statements.length = 0
      const statuses = new Set(await Promise.all(Array.from({ length: count }, () => statusOf(path))))
      const cost = { built: (await builds()) - before, statements: [...service.statements] }
      // On a busy machine, the service may shed some of these requests. The round is then repeated, because shed
      // requests run no statements.
      if (tries < 3 && statuses.has(503)) {
        await vi.waitUntil(async () => (await statusOf('/nowhere')) === 404, { timeout })
        continue
      }
      expect(statuses).toEqual(new Set([200]))
      return cost
    }
  }
  return { paths, ask }
}

/** Starts a gateway before the tests of a file and closes it after them. `ask` sends calls through it. */
export function useCountedGateway() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })
  const gateway = {} as Gateway
  let close: Gateway['close']
  beforeAll(async () => {
    const started = await startGateway()
    close = () => started.close()
    Object.assign(gateway, started)
  })
  afterAll(async () => {
    agent.destroy()
    await close()
  })
  /** Sends `count` concurrent calls and returns the statements that they ran. */
  async function ask(path: string, count: number): Promise<string[]> {
    gateway.service.statements.length = 0
    const headers = { authorization: `Bearer ${gateway.machine.token}` }
    const answers = await Promise.all(
      Array.from({ length: count }, () => timedGet(agent, `${gateway.service.url}${path}`, headers)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    return [...gateway.service.statements]
  }
  const builds = (): Promise<number> => missesOf(gateway.service, 'esb_target')
  return { gateway, ask, builds }
}
