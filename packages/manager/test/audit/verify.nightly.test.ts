// Tests the cost of verification with many rows: for all rows, for new rows, and for one response.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChainStatus } from '../../src/platform/audit/chain-status.ts'
import { readVerdict, runVerification } from '../../src/platform/audit/verify-incremental.ts'
import { verifyAudit } from '../../src/platform/audit/verify.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { appendRows, checkpointKey, macKey, sealAll } from '../kit/trail.ts'
import { addVerifiedChains } from '../kit/verified-chains.ts'

const rowCount = Number(process.env['AUDIT_ROWS'] ?? loadSize(30_000, 100_000))
const newRows = 1_000
const keys = [checkpointKey]
const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
  await appendRows(service, chainId, rowCount)
  await sealAll(service)
}, 600_000)
afterAll(() => service.close())

async function timed<T>(work: () => Promise<T>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

test('what is new costs what it is, not what there is', async () => {
  const { database } = service.world
  const verifier = { db: database.db.write, keys, macKey }
  const full = await timed(() => verifyAudit(database.db, keys))
  const first = await timed(() => runVerification(verifier, { newRows: rowCount * 2, oldRows: 0 }))
  const idle = await timed(() => runVerification(verifier, { newRows: rowCount * 2, oldRows: 0 }))
  const again = await timed(() => runVerification(verifier, { newRows: 1, oldRows: rowCount * 2 }))
  await appendRows(service, chainId, newRows)
  const snapshot = await database.openSnapshot()
  const answer = await timed(() => createChainStatus({ keys, macKey })(snapshot, chainId))
  await snapshot.close()
  await sealAll(service)
  const incremental = await timed(() => runVerification(verifier, { newRows: rowCount, oldRows: 0 }))
  const perSecond = (rows: number, ms: number): number => Math.round((rows / ms) * 1_000)
  process.stdout.write(
    `audit verify rows=${rowCount} full_rows_s=${perSecond(rowCount, full)} first_rows_s=${perSecond(rowCount, first)} ` +
      `again_rows_s=${perSecond(rowCount, again)} new_1000_ms=${Math.round(incremental)} idle_ms=${Math.round(idle)} ` +
      `chain_status_1000_new_ms=${Math.round(answer)}\n`,
  )
  expect(await readVerdict(database.db.read, macKey)).toEqual({ checkpointSeq: 2, findings: [] })
  expect(incremental).toBeLessThan(full / 4)
  expect(answer).toBeLessThan(full / 4)
}, 600_000)

test('the verdict over very many chains with nothing new leaves room for other work', async () => {
  const { database } = service.world
  const chains = Number(process.env['AUDIT_CHAINS'] ?? loadSize(30_000, 100_000))
  const entries = await addVerifiedChains(database, chains)
  await service.sql.query('analyze audit_chains; analyze audit_verified_chains')
  const snapshot = await database.openSnapshot()
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let counted = 0
  const answer = await timed(async () => {
    const verdict = await createChainStatus({ keys, macKey })(snapshot, null)
    expect(verdict).toMatchObject({ status: 'ok', reason: null })
    counted = verdict.entries
  })
  delay.disable()
  await snapshot.close()
  process.stdout.write(
    `audit chain_status chains=${chains} all_ms=${Math.round(answer)} stall_max_ms=${Math.round(delay.max / 1e6)} ` +
      `stall_p99_ms=${Math.round(delay.percentile(99) / 1e6)}\n`,
  )
  expect(counted).toBe(rowCount + newRows + entries)
  expect(delay.percentile(99) / 1e6).toBeLessThan(100)
}, 600_000)
