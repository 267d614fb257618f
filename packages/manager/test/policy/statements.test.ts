// Counts the statements that each query in the matrix runs: to load the caller, the object that the policy checks, and
// the rows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { operations } from './operations.ts'
import { createMatrixWorld } from './world.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

/** Queries that read sizes before values, run in a transaction with its own settings, or read several kinds of objects. */
const exceptions: Record<string, number> = {
  'Query.auditChain': 6,
  'Query.deploymentReadiness': 5,
  // One statement for each kind of object, and the memberships of the caller.
  'Query.search': 15,
  'Query.settings': 4,
  'Query.effectiveSettings': 4,
  'Query.esbAuditLogs': 6,
  'Query.esbAuditLogsConnection': 6,
  'Query.triggerRuns': 6,
  'Query.triggerRunsConnection': 6,
}

test('a query costs an administrator at most three statements', async () => {
  const world = await createMatrixWorld(service)
  const counts: Record<string, number> = {}
  for (const { name, text, make } of operations.filter((operation) => operation.name.startsWith('Query.'))) {
    const document = text(world.own, await make(world, world.own))
    // The first request opens connections.
    await service.query(world.people.administrator, document)
    service.statements.length = 0
    await service.query(world.people.administrator, document)
    counts[name] = service.statements.length
  }
  const costly = Object.entries(counts).filter(([, count]) => count > 3)
  expect(Object.fromEntries(costly)).toEqual(exceptions)
}, 240_000)
